package money

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"ringback/internal/store/storetest"
	"ringback/test/must"
	"ringback/test/rig"
)

// Two nodes that get requests for 50 jobs at once create as many as a user may have. A
// killed node keeps no slot, and each job that ends frees one.
func TestAUsersQuotaOutlivesItsNodes(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t)
	rig.SetTimeOfDay(t, redis, storetest.Noon)
	env := vars{
		"REDIS_URL": redis.URL, "JOBS_PER_USER_AT_ONCE": "6", "JOBS_PER_USER_PER_DAY": "8", "NODE_TIMEOUT": "1s",
		"PROMPTS_DIR": rig.KindsDir(t, "poem.md", "---\njobs_at_once: 9\njobs_per_day: 20\n---\nWrite."), "SCHEMAS_DIR": rig.KindsDir(t, "poem.result.json", `{"type":"object"}`),
	}
	nodes := []*rig.Node{rig.Start(t, env), rig.Start(t, env)}
	manual := object{"kind": "poem", "userId": "u1", "input": object{}, "options": object{"simulate": "manual"}}
	flood := func(nodes ...*rig.Node) (created int) {
		var n atomic.Int64
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				switch status, answer := nodes[i%len(nodes)].Do(t, "POST", "/api/jobs", manual); status {
				case http.StatusAccepted:
					n.Add(1)
				case http.StatusTooManyRequests:
				default:
					t.Errorf("it answered %d: %v", status, answer)
				}
			})
		}
		all.Wait()
		return int(n.Load())
	}
	if created := flood(nodes...); created != 6 {
		t.Fatalf("%d jobs were created", created)
	}
	nodes[1].Kill(t)
	n := nodes[0]
	refused := n.Want(t, 429, "POST", "/api/jobs", manual)
	must.Contain(t, rig.JSON(refused), "6 jobs of this user have not ended, and a user may have 6 at once (JOBS_PER_USER_AT_ONCE)", "it was refused with")
	n.Want(t, 202, "POST", "/api/jobs", object{"kind": "poem", "userId": "u2", "input": object{}, "options": object{"simulate": "manual"}})
	must.Contain(t, rig.JSON(n.Want(t, 200, "GET", "/api/stats", nil)), `"quotas":[{"atOnce":9,"kind":"poem","open":7,"perDay":20,"today":7}]`, "the statistics are")
	jobs := n.Want(t, 200, "GET", "/api/jobs?userId=u1", nil)["jobs"].([]any)
	first := fmt.Sprint(jobs[0].(object)["requestId"])
	for _, one := range jobs[:3] {
		n.Want(t, 200, "POST", fmt.Sprintf("/api/jobs/%v/cancel", one.(object)["requestId"]), nil)
	}
	if created := flood(n); created != 2 { // of the day's 8
		t.Errorf("%d jobs were created once 3 had ended", created)
	}
	n.Want(t, 200, "POST", "/api/jobs/"+first+"/retry", nil)
	n.Want(t, 429, "POST", fmt.Sprintf("/api/jobs/%v/retry", jobs[1].(object)["requestId"]), nil)
	n.Want(t, 200, "POST", "/api/jobs/"+first+"/cancel", nil)

	n.Want(t, 429, "POST", "/hitl/runs", object{"prompt": "Write.", "user_id": "u1", "agent_tool_config": object{"kind": "poem"}})

	resp := n.Respond(t, "POST", "/api/jobs", manual)
	if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); resp.Status != 429 || err != nil || after < 1 || after > 12*60*60 {
		t.Errorf("over the quota of the day it answered %d, to try again after %q s", resp.Status, resp.Header.Get("Retry-After"))
	}
}
