package code

import (
	"net"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// A git host that accepts connections and does not respond delays only the jobs that use
// it.
func TestASilentGitHostHoldsUpNoOtherJob(t *testing.T) {
	t.Parallel()
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { silent.Close() })
	n := rig.Start(t, vars{"CLAUDE_BIN": "simulate", "WORKERS": "2", "USER_LIMIT": "2", "REPOSITORY_PRIVATE": "true"})
	var waiting []string
	for _, user := range []string{"u1", "u2", "u3"} {
		for range 2 {
			waiting = append(waiting, n.Create(t, object{"kind": "code-change", "userId": user, "input": object{
				"prompt": "Do it", "repos": []any{object{"url": "http://" + silent.Addr().String() + "/shop.git"}},
			}}))
		}
	}
	for _, id := range waiting {
		must.Eventually(t, "the repositories to be prepared", func() bool {
			return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["phase"] == "preparing"
		})
	}
	n.Await(t, n.Create(t, object{"userId": "u4"}), "received")
	for _, id := range waiting {
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	}
}
