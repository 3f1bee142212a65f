package upgrade

import (
	"syscall"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
	"ringback/test/scan"
)

// A server with an embedded store gets the next version and the version before again, and its jobs go on, until the
// upgrade is finished.
func TestAnEmbeddedStoreGetsTheNextVersionAndTheOneBeforeAgain(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 8)
	for name, commit := range sample.Cases(t, 1, map[string]string{"the first version of format 9": firstOf9, "the last": lastOf9}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := harness.BuildAt(t, commit)
			env := vars{
				"DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "HOLD": "100ms",
				"PROMPTS_DIR": rig.KindsDir(t, "shop.md", shop), "NODE_TIMEOUT": "2s",
			}
			start := func(binary string) *maker {
				t.Helper()
				return &maker{t, rig.StartWith(t, harness.Options{Env: env, Binary: binary, Scan: scan.Suite}), "", map[string]string{}}
			}
			const today = ""
			var id string
			for step, next := range []struct {
				binary string
				stop   syscall.Signal
			}{{old, syscall.SIGTERM}, {today, syscall.SIGTERM}, {old, syscall.SIGKILL}, {today, syscall.SIGKILL}, {old, syscall.SIGTERM}, {today, 0}} {
				m := start(next.binary)
				if step == 0 {
					m.calls("checkpoints", m.manual("asked", "shop", nil), question)
					id = m.jobs["asked"]
				} else {
					goesOnAsking(m, id)
				}
				if next.binary == today {
					must.Contain(t, rig.CommandLine(t, m.Node)("migrate", "--check"), "The store is in format 9.")
				}
				if next.stop != 0 {
					m.Stop(t, next.stop)
					continue
				}
				cli := rig.CommandLine(t, m.Node)
				must.Contain(t, cli("upgrade", "--finish"), "The store is in format 10.")
				must.Contain(t, cli("migrate"), "Nothing is left in an older format.")
				must.Equal(t, 0.0, m.Want(t, 200, "GET", "/api/doctor", nil)["found"], "what the doctor finds")
				m.Stop(t, syscall.SIGTERM)
			}
			must.Contain(t, serveRefused(t, old, env), "a newer one has written it, in format 10", "the version before says")
		})
	}
}

// goesOnAsking answers the question of a job, in which Claude asks the next one.
func goesOnAsking(m *maker, id string) {
	m.t.Helper()
	asked := m.OpenCheckpoint(m.t, id, "awaiting_input")
	m.Reply(m.t, asked["id"].(string), object{"text": "Red"})
	next := rig.With(question, object{"message": "And after " + asked["id"].(string) + "?"})
	m.calls("checkpoints", m.Envelope(m.t, id), next)
	m.OpenCheckpoint(m.t, id, "awaiting_input")
}
