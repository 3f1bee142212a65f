package machines

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// TestNothingIsLeftAfterManyJobs compares the server's resources before and after:
// goroutines, file descriptors, child processes, files, keys in Redis.
func TestNothingIsLeftAfterManyJobs(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	server := rig.StartRedis(t)
	options := must.Get(redis.ParseURL(server.URL))(t)
	rdb := redis.NewClient(options)
	defer rdb.Close()
	keys := func() float64 { return float64(rdb.DBSize(t.Context()).Val()) }
	n := rig.Start(t, vars{"REDIS_URL": server.URL, "CLAUDE_BIN": quickCLI(t), "RETENTION": "3s", "HUMAN_TIMEOUT": "3s", "LOG_LEVEL": "WARN", "USER_LIMIT": "100"})

	run := func(count int) {
		ids := make([]string, count)
		for i := range ids {
			ids[i] = n.Create(t, object{"userId": fmt.Sprint("u", i%50)})
		}
		for _, id := range ids {
			must.Eventually(t, "the job to end", func() bool {
				status, record := n.Do(t, "GET", "/api/jobs/"+id, nil)
				return status == http.StatusNotFound || record["status"] == "received"
			})
		}
	}
	settled := func() map[string]float64 {
		must.Eventually(t, "finished jobs to be forgotten", func() bool {
			return len(n.Want(t, 200, "GET", "/api/jobs", nil)["jobs"].([]any)) == 0
		})
		held := map[string]float64{"children": float64(len(childrenOf(n.Cmd.Process.Pid))), "keys": keys()}
		entries, _ := os.ReadDir(n.Dir + "/nodes/0/jobs")
		held["job directories"] = float64(len(entries))
		for name, metric := range map[string]string{"goroutines": "go_goroutines", "descriptors": "process_open_fds"} {
			held[name] = n.Metric(t, metric)
		}
		return held
	}
	run(50) // pools and caches fill once
	before := settled()
	jobs := 200 // far more than the slack below
	if os.Getenv("LONG_TESTS") != "" {
		jobs = 1000
	}
	run(jobs)
	var after map[string]float64
	slack := map[string]float64{"goroutines": 10, "descriptors": 20} // the number of connections varies
	must.Eventually(t, "everything to be back where it was", func() bool {
		after = settled()
		for name, count := range after {
			if count > before[name]+slack[name] {
				t.Logf("%s: %v before, %v after", name, before[name], count)
				return false
			}
		}
		return true
	})
	t.Logf("before %v, after %v", before, after)
}

// quickCLI posts its result immediately.
func quickCLI(t testing.TB) string {
	t.Helper()
	return rig.Script(t, `
while read -r dash name value; do
  case "$name" in REQUEST_ID:) id=$value;; CALLBACK_BASE_URL:) url=$value;; HMAC_SIGNATURE:) hmac=$value;; esac
done
exec curl -sS -X POST "$url/api/claude/suggestions" -H 'Content-Type: application/json' --retry 3 -d '{"requestId":"'$id'","hmac":"'$hmac'","reasoning":"x","suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup"}}]}'
`)
}
