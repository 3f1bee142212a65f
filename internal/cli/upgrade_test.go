package cli_test

import (
	"testing"

	"ringback/test/must"
)

func TestUpgradeShowsWhatIsNext(t *testing.T) {
	t.Parallel()
	const servers = `{"name":"m1","format":9,"reads":10},{"name":"m2","format":9,"reads":`
	for name, c := range map[string]struct{ store, want, not string }{
		"a server of the version before": {
			`{"format":9,"newest":10,"oldest":9,"servers":[` + servers + `9}]}`, "when all servers read that", "--finish",
		},
		"none of them any more": {
			`{"format":9,"newest":10,"oldest":9,"finishesAt":"2026-03-04T10:00:00Z","servers":[` + servers + `10}]}`, "ringback upgrade --finish", "when all",
		},
		"records of the version before": {`{"format":10,"newest":10,"oldest":9}`, "ringback migrate", "--finish"},
		"nothing":                       {`{"format":10,"newest":10,"oldest":10}`, "Nothing is left", "ringback migrate"},
	} {
		f := newStub(t)
		f.answers["GET /api/store"] = c.store
		got := newConsole(t, f.URL).run(t, "upgrade")
		must.Contain(t, got.stdout+got.stderr, c.want, name)
		must.NotContain(t, got.stdout+got.stderr, c.not, name)
	}
}

// During a rolling upgrade, a proxy may pass the question on to a server that does not know it.
func TestUpgradeAtAServerOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	got := newConsole(t, newStub(t).URL).run(t, "upgrade")
	must.Contain(t, got.stderr, "is of a version that knows nothing of upgrades")
	must.Contain(t, got.stderr, "--offline")
}
