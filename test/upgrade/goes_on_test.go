package upgrade

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// audited returns the events of a job's audit log, which must be unchanged.
func (m *maker) audited(name string) string {
	m.t.Helper()
	ctx, api, id := m.t.Context(), client.New(m.URL), job.ID(m.jobs[name])
	log := must.Get(api.Audit(ctx, id))(m.t)
	of := must.Get(api.Get(ctx, id))(m.t).Value
	if v := job.VerifyAudit(of, log.Entries(), log.Head, ""); len(v.Faults) > 0 {
		m.t.Errorf("the audit log of %s: %+v", name, v.Faults)
	}
	return strings.Join(m.AuditLines(m.t, m.jobs[name]), ", ")
}

// deploys lets Claude make its call again, which a person has allowed: it runs once.
func (m *maker) deploys(name, input string) {
	m.t.Helper()
	envelope := m.Envelope(m.t, m.jobs[name])
	for _, want := range []any{"success", "pending_confirmation"} {
		answer := m.calls("actions/deploy", envelope, object{"input": object{"name": input}, "confirmed": true})
		must.Equal(m.t, want, answer["status"], name, "is answered", answer)
	}
	must.Equal(m.t, 1, strings.Count(m.audited(name), "started"), name, "runs")
}

// published waits until the change of a job is in its repository.
func (m *maker) published(name string) {
	m.t.Helper()
	m.Await(m.t, m.jobs[name], "received")
	must.Contain(m.t, harness.Git(m.t, m.repository, "branch", "--list", "*"+m.jobs[name]), m.jobs[name], "the branches")
	must.Contain(m.t, m.audited(name), "finished", "the audit log of", name)
}

// goesOn is what comes next for each job of a dump.
var goesOn = map[string]func(m *maker, id string){
	"parked": func(m *maker, id string) {
		asked := m.OpenCheckpoint(m.t, id, "awaiting_input")
		m.Reply(m.t, asked["id"].(string), object{"text": "Red"})
		m.calls("result", m.Envelope(m.t, id), object{"painted": "red"})
		m.Await(m.t, id, "received")
	},
	"held": func(m *maker, id string) {
		m.OpenCheckpoint(m.t, id, "awaiting_approval")
		m.Approve(m.t, id)
		m.deploys("held", "held")
	},
	"allowed": func(m *maker, _ string) { m.deploys("allowed", "app") },
	"acting": func(m *maker, _ string) {
		must.Eventually(m.t, "the end of an action whose server was killed", func() bool { return strings.Contains(m.audited("acting"), "unknown") })
	},
	"standing": func(m *maker, id string) {
		envelope := m.Envelope(m.t, id)
		for _, call := range []string{"1", "2"} { // the first is the one that was asked about
			must.Equal(m.t, "allow", m.hook(envelope, call, "ship one"), "what is always allowed, call", call)
		}
	},
	"batches": func(m *maker, id string) {
		answer := m.calls("suggestions/batch", m.Envelope(m.t, id), object{
			"batch": 2, "final": true, "suggestions": rig.MealResult("Stew")["suggestions"], "reasoning": "Because.",
		})
		must.Equal(m.t, 2.0, answer["total"], "the batches", answer)
		m.Await(m.t, id, "received")
	},
	"review": func(m *maker, id string) {
		m.OpenCheckpoint(m.t, id, "awaiting_approval")
		must.Contain(m.t, m.Text(m.t, "/api/jobs/"+id+"/diff"), "SIMULATED.md", "the diff")
		m.Approve(m.t, id)
		m.published("review")
	},
	"approved": func(m *maker, _ string) { m.published("approved") },
	"running":  func(m *maker, id string) { m.Await(m.t, id, "received") },
	"queued":   func(m *maker, id string) { m.Await(m.t, id, "received") },
	"received": func(m *maker, id string) {
		if m.Await(m.t, id, "received")["result"] == nil {
			m.t.Error("a result is gone")
		}
	},
	"failed": func(m *maker, id string) {
		m.Await(m.t, id, "failed")
		m.Want(m.t, 200, "POST", "/api/jobs/"+id+"/retry", nil)
		m.Envelope(m.t, id)
	},
	"cancelled": func(m *maker, id string) { m.Await(m.t, id, "cancelled") },
	"rejected":  func(m *maker, id string) { m.Await(m.t, id, "rejected") },
	"spent": func(m *maker, id string) {
		usage, _ := m.Await(m.t, id, "received")["usage"].(object)
		must.Equal(m.t, 0.5, usage["costUsd"], "the cost", usage)
	},
	"limited": func(m *maker, id string) { m.Await(m.t, id, "received") }, // this node has another account
}

// Whatever a store of the first version of format 9 has goes on with today's server, before and after it moves.
func TestAStoreOfTheFormatBeforeGoesOn(t *testing.T) {
	t.Parallel()
	for when, c := range sample.Cases(t, 1, map[string]struct{ moved, onCluster, restored bool }{
		"before it moves": {}, "after it has moved": {moved: true}, "after it has moved on a Cluster": {moved: true, onCluster: true},
		"after it was restored from a backup": {restored: true},
	}) {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			d, hook, repository := readDump(t), rig.StartHook(t), repository(t)
			url := ""
			if c.onCluster {
				url = harness.StartCluster(t, 0).URL
			} else {
				url = rig.StartRedis(t).URL
			}
			rdb := must.Get(store.Connect(url))(t)
			defer rdb.Close()
			d.load(t, rdb, places{filepath.Dir(repository): repositories, hook.URL: webhook})
			data := t.TempDir()
			if c.restored {
				file := filepath.Join(t.TempDir(), "backup.tar.gz")
				for _, args := range [][]string{{"backup", file}, {"restore", file}} {
					if code, out, _ := rig.Ringback(t, vars{"REDIS_URL": url, "DATA_DIR": data}, args...); code != 0 {
						t.Fatal(out)
					}
					must.OK(t, rdb.FlushAll(t.Context()).Err())
					url = ""
				}
			}
			n := rig.Start(t, vars{
				"DATA_DIR": data, "REDIS_URL": url, "HOLD": "200ms", "CLAUDE_BIN": rig.Script(t, talker), "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.Secret,
				"PROMPTS_DIR": rig.KindsDir(t, "shop.md", shop), "REPOSITORY_PATHS": filepath.Dir(repository), "NODE_TIMEOUT": "2s",
			})
			m := &maker{t, n, repository, d.Jobs}
			cli := rig.CommandLine(t, n)
			must.Contain(t, cli("migrate", "--check"), "The store is in format 9. This version writes up to format 10.")
			if limits, _ := m.Want(t, 200, "GET", "/api/readiness", nil)["limits"].([]any); len(limits) != 1 {
				t.Errorf("Claude's limits are %v", limits)
			}
			inOrder := func(when string) {
				t.Helper()
				must.Equal(t, 0.0, m.Want(t, 200, "GET", "/api/doctor", nil)["found"], when)
			}
			inOrder("before the upgrade is finished")
			finish := func() {
				t.Helper()
				must.Eventually(t, "the store to move", func() bool {
					return strings.Contains(cli("upgrade", "--finish"), "The store is in format 10.")
				})
				must.Contain(t, cli("migrate"), "Nothing is left in an older format.")
				inOrder("after that")
			}
			if c.moved {
				finish()
			}
			for name, id := range m.jobs {
				t.Log(name)
				if name == "allowed" && c.restored { // it may have run after the backup: people are asked again
					continue
				}
				goesOn[name](m, id)
			}
			must.Contain(t, m.Text(t, "/api/sessions/chat-parked-too/messages?userId=user-chat"), "Hello", "a chat")
			must.Eventually(t, "the notices", func() bool {
				left := m.Want(t, http.StatusOK, "GET", "/api/notifications", nil)["notifications"].([]any)
				for _, notice := range left { // else at the next of its tries
					m.Do(t, http.MethodPost, "/api/notifications/"+notice.(object)["id"].(string)+"/retry", nil)
				}
				return len(left) == 0
			})
			seen := map[string]bool{}
			for len(hook.IDs) > 0 {
				id := <-hook.IDs
				must.Equal(t, false, seen[id], "a notice came twice:", id)
				seen[id] = true
			}
			if len(seen) < 10 {
				t.Errorf("%d notices came", len(seen))
			}
			if !c.moved {
				finish()
			}
		})
	}
}
