package machines

import (
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-cli"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-cli is not installed: run make deps")
	}
	cluster := harness.StartCluster(t, 0)
	url := cluster.URL
	var ids []string
	one := rig.Start(t, vars{"REDIS_URL": url})
	two := rig.Start(t, vars{"REDIS_URL": url}, "--role", "api")
	for _, user := range []string{"a", "b", "c", "d", "e", "f"} { // on different partitions
		events := two.Listen(t, "userId="+user)
		id := two.Create(t, object{"userId": user})
		if got := rig.EventNames(events.Until("recipes:suggestions:received")); len(got) != 6 {
			t.Errorf("user %s heard %v", user, got)
		}
		one.Await(t, id, "received")
		ids = append(ids, id)
	}
	must.Equal(t, 6, len(one.Want(t, 200, "GET", "/api/jobs", nil)["jobs"].([]any)), "jobs are listed")
	_, envelope := one.Manual(t, object{"userId": "z"})
	two.Want(t, 200, "POST", "/api/claude/suggestions/batch", rig.With(envelope, object{"batch": 1, "suggestions": rig.MealResult("Soup")["suggestions"]}))
	two.Want(t, 200, "POST", "/api/claude/suggestions/batch", rig.With(envelope, rig.With(rig.MealResult("Pie"), object{"batch": 2, "final": true})))
	wantOneToHang(t, cluster, one, ids)
}

// wantOneToHang stops one server of a Cluster: jobs on the other servers can be read as
// before, and calls about those on the stopped one fail, immediately from the second call
// on.
func wantOneToHang(t *testing.T, cluster *harness.Cluster, n *rig.Node, ids []string) {
	t.Helper()
	for _, r := range cluster.Servers { // otherwise the others soon reject all calls
		client := r.Client()
		defer client.Close()
		must.OK(t, client.ConfigSet(t.Context(), "cluster-node-timeout", "600000").Err())
	}
	stopped := cluster.Servers[0].Cmd.Process
	_ = stopped.Signal(syscall.SIGSTOP)
	defer func() { _ = stopped.Signal(syscall.SIGCONT) }()
	for _, within := range []time.Duration{patient, quick} {
		var mu sync.Mutex
		var calls sync.WaitGroup
		answers := map[int]int{}
		for _, id := range ids {
			calls.Go(func() {
				begun := time.Now()
				resp, err := http.Get(n.URL + "/api/jobs/" + id)
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				answers[resp.StatusCode]++
				if took := time.Since(begun); took > within || resp.StatusCode == http.StatusOK && took > quick {
					t.Errorf("a job was answered %d after %s", resp.StatusCode, took)
				}
			})
		}
		calls.Wait()
		if answers[http.StatusOK] == 0 || answers[http.StatusServiceUnavailable] == 0 || len(answers) != 2 {
			t.Errorf("jobs on three servers, one of which hangs, were answered %v", answers)
		}
	}
}
