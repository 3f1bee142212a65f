package code

import (
	"maps"
	"path/filepath"
	"syscall"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// hangingCLI changes a file once the gate is open, submits that, and never ends.
func hangingCLI(t testing.TB, gate string) string {
	t.Helper()
	return rig.Script(t, harness.CallsBack+`
touch `+gate+`.reached
while [ ! -e `+gate+` ]; do sleep 0.02; done
echo "- begin" > service/SIMULATED.md
post result '"summary":"Begun."'
sleep 1000
`)
}

// Claude submits a change to one node and does not end; another node runs it. That node
// continues because of the submission: its next heartbeat is minutes away.
func TestSubmittedChangeGoesOnWhereItRuns(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, meanwhile := range map[string]func(t *testing.T, worker *rig.Node, submit func()) *rig.Node{
		"nothing happens": func(_ *testing.T, worker *rig.Node, submit func()) *rig.Node {
			submit()
			return worker
		},
		"its node restarts": func(t *testing.T, worker *rig.Node, submit func()) *rig.Node {
			t.Helper()
			worker.Kill(t)
			submit()
			return rig.Start(t, worker.Env, "--role", "worker")
		},
		"its node dies with Claude": func(t *testing.T, worker *rig.Node, submit func()) *rig.Node {
			t.Helper()
			worker.Kill(t)
			submit()
			for _, pid := range harness.ProcessesUnder(filepath.Join(worker.Dir, "workspaces")) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return rig.Start(t, worker.Env, "--role", "worker")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := filepath.Join(t.TempDir(), "gate")
			env := gatedChange(t, gate)
			rig.OpenGate(t, gate) // the verifier's
			claude := filepath.Join(t.TempDir(), "claude")
			env["REDIS_URL"], env["NODE_TIMEOUT"], env["CLAUDE_BIN"] = rig.StartRedis(t).URL, "10m", hangingCLI(t, claude)
			remote := rig.GoRepository(t, "service")
			env["REPOSITORY_PATHS"] = filepath.Dir(remote) // neither node knows that the caller is local
			apiEnv := maps.Clone(env)
			apiEnv["DATA_DIR"] = t.TempDir()
			api := rig.Start(t, apiEnv, "--role", "api")
			env["LISTEN_ADDR"], env["CALLBACK_BASE_URL"] = "127.0.0.1:0", api.URL
			worker := rig.Start(t, env, "--role", "worker")
			id := api.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote}}}})
			must.Eventually(t, "Claude to run", func() bool { return exists(claude + ".reached") })
			worker = meanwhile(t, worker, func() {
				rig.OpenGate(t, claude)
				must.Eventually(t, "the change to be submitted", func() bool { return len(phases(t, api, id)) > 3 })
			})
			must.Equal(t, 1.0, api.Await(t, id, "awaiting_approval")["turn"], "it took … turns")
			want := []string{"pending queued", "running preparing", "running claude", "running capturing", "running verifying"}
			must.Equal(t, want, phases(t, api, id), "the phases")
			api.Approve(t, id)
			api.Await(t, id, "received")
			must.Contain(t, harness.Git(t, remote, "show", "ringback/"+id+":SIMULATED.md"), "begin", "what was pushed is")
			must.Eventually(t, "Claude's process to be gone", func() bool { return len(harness.ProcessesUnder(filepath.Join(worker.Dir, "workspaces"))) == 0 })
		})
	}
}
