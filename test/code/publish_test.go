package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// publishing starts a gated change of a repository and returns it when it waits for review.
func publishing(t *testing.T, remote string) (n *rig.Node, id string) {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "verified")
	rig.OpenGate(t, gate)
	n = rig.Start(t, gatedChange(t, gate))
	id = n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote}}}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	return n, id
}

// approvedOnce checks that a job is received, with its branch pushed, and that its reviewer
// was asked only once.
func approvedOnce(t *testing.T, n *rig.Node, remote, id string) {
	t.Helper()
	n.Await(t, id, "received")
	must.Equal(t, "- begin\n", harness.Git(t, remote, "show", "ringback/"+id+":SIMULATED.md"), "what was pushed is")
	asked := 0
	for _, event := range n.Audit(t, id) {
		if event == "asked" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the reviewer was asked %d times: %v", asked, n.Audit(t, id))
	}
}

// hook installs a hook in a bare repository.
func hook(t *testing.T, remote, name, body string) {
	t.Helper()
	rig.WriteFiles(t, remote, map[string]string{"hooks/" + name: "#!/bin/sh\n" + body + "\n"})
}

// The server is killed during a push: before, while and after the remote writes the branch.
// Its processes continue, and one approval is enough.
func TestKilledWhilePushing(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Of(t, 1, []string{"pre-receive", "update", "post-receive", "reference-transaction"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote, gate := rig.GoRepository(t, "service"), filepath.Join(t.TempDir(), "gate")
			hook(t, remote, name, "echo $$ >> "+gate+".reached; while [ ! -e "+gate+" ]; do sleep 0.02; done")
			n, id := publishing(t, remote)
			n.Approve(t, id)
			must.Eventually(t, "the hook to run", func() bool { return exists(gate + ".reached") })
			n = n.Again(t)
			for pushes := 2; name == "pre-receive" && pushes < 6; pushes++ { // all push to the same branch, and no kill costs an attempt
				must.Eventually(t, "the next push", func() bool {
					text, _ := os.ReadFile(gate + ".reached")
					return strings.Count(string(text), "\n") >= pushes
				})
				n = n.Again(t)
			}
			rig.OpenGate(t, gate)
			approvedOnce(t, n, remote, id)
		})
	}
}

// A killed process leaves locks behind, in the remote for a while, and in Ringback's own
// files forever.
func TestStaleLocksHoldUpNoPush(t *testing.T) {
	t.Parallel()
	t.Run("in the remote", func(t *testing.T) {
		t.Parallel()
		remote := rig.GoRepository(t, "service")
		n, id := publishing(t, remote)
		lock := filepath.Join(remote, "refs", "heads", "ringback", id+".lock")
		rig.WriteFiles(t, remote, map[string]string{"refs/heads/ringback/" + id + ".lock": ""})
		n.Approve(t, id)
		must.Eventually(t, "the push to be repeated", func() bool {
			activity, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["activity"].(object)
			message, _ := activity["message"].(string)
			return strings.Contains(message, "again")
		})
		must.OK(t, os.Remove(lock))
		approvedOnce(t, n, remote, id)
	})
	t.Run("in our own", func(t *testing.T) {
		t.Parallel()
		remote := rig.GoRepository(t, "service")
		n, id := publishing(t, remote)
		own := filepath.Join(n.Dir, "workspaces", id, "git", "service")
		rig.WriteFiles(t, own, map[string]string{"refs/heads/ringback/" + id + ".lock": "", "packed-refs.lock": ""})
		mirrors, err := filepath.Glob(filepath.Join(n.Dir, "mirrors", "*", "HEAD"))
		if err != nil || len(mirrors) != 1 {
			t.Fatalf("the mirrors are %v %v", mirrors, err)
		}
		rig.WriteFiles(t, filepath.Dir(mirrors[0]), map[string]string{"refs/heads/next.lock": "", "packed-refs.lock": ""})
		n.Approve(t, id)
		approvedOnce(t, n, remote, id)
		harness.Git(t, remote, "branch", "next", "main")
		next := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote, "branch": "next"}}}})
		n.OpenCheckpoint(t, next, "awaiting_approval")
	})
}
