package machines

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// The metrics show the state of a node and what waits, and the guide names only existing
// metrics.
func TestMetricsSayWhatWaits(t *testing.T) {
	t.Parallel()
	var gone atomic.Bool
	gone.Store(true)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if gone.Load() {
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer hook.Close()
	redis, dir := rig.StartRedis(t), t.TempDir()
	n := rig.Start(t, vars{"REDIS_URL": redis.URL, "WORKERS": "1", "CLAUDE_BIN": rig.PatientCLI(t, dir), "WEBHOOK_URL": hook.URL})
	first := n.Create(t, object{"userId": "u1"})
	n.Await(t, first, "running")
	second := n.Create(t, object{"userId": "u2"})
	third := n.Create(t, object{"userId": "u3", "kind": "meal-suggestions", "input": rig.MealInput(), "options": object{"priority": "batch"}})
	must.Eventually(t, "a job of each priority to wait", func() bool {
		return n.Metric(t, `ringback_oldest_queued_seconds\{priority="interactive"\}`) > 0 && n.Metric(t, `ringback_oldest_queued_seconds\{priority="batch"\}`) > 0
	})
	behind := n.Create(t, object{"userId": "u2"})
	if queue, _ := n.Want(t, 200, "GET", "/api/jobs/"+behind, nil)["queue"].(object); queue["ownJobs"] != 1.0 || queue["otherUsers"] != 0.0 {
		t.Errorf("the second job of a user waits behind %v", queue)
	}
	if said := rig.CommandLine(t, n)("list", "--user", "u2"); !strings.Contains(said, "waiting for a worker: 1 other job of the same user first") || !strings.Contains(said, "next in line") {
		t.Errorf("ringback list says\n%s", said)
	}
	n.Want(t, 200, "POST", "/api/jobs/"+behind+"/cancel", nil)
	for name, want := range map[string]float64{
		"ringback_workers": 1, "ringback_workers_busy": 1, "ringback_turns_not_started_total": 0, "ringback_turns_stalled_total": 0,
		`ringback_first_turn_seconds_count\{priority="interactive"\}`: 1,
	} {
		must.Equal(t, want, n.Metric(t, name), name)
	}
	if free, size := n.Metric(t, "ringback_data_dir_free_bytes"), n.Metric(t, "ringback_data_dir_size_bytes"); free <= 0 || free > size {
		t.Errorf("%v of %v bytes are free", free, size)
	}
	if at := time.Unix(int64(n.Metric(t, "ringback_last_heartbeat_timestamp_seconds")), 0); time.Since(at) > time.Minute {
		t.Errorf("the last heartbeat was at %s", at)
	}
	must.Equal(t, 1, n.Metric(t, `ringback_info\{format="\d+",version="[^"]+"\}`), "the node does not say what it is")

	for _, id := range []string{second, third} {
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	}
	must.Eventually(t, "the notifications to be given up, and nothing to wait", func() bool {
		return n.Metric(t, `ringback_notifications\{receiver="webhook",status="given_up"\}`) == 3 &&
			n.Metric(t, `ringback_notifications\{receiver="webhook",status="waiting"\}`) == 0 &&
			n.Metric(t, `ringback_oldest_queued_seconds\{priority="interactive"\}`) == 0
	})
	cli := rig.CommandLine(t, n)
	must.Contain(t, cli("doctor"), "Notifications (webhook): 0 will be retried, 3 were given up.", "ringback doctor")
	if said := cli("notifications"); strings.Count(said, "given up") != 3 || !strings.Contains(said, "410 Gone") {
		t.Errorf("ringback notifications says\n%s", said)
	}
	gone.Store(false)
	must.Contain(t, cli("resend", "--all"), "Sent again: 3.", "ringback resend")
	must.Eventually(t, "them to get through", func() bool {
		return len(n.Want(t, 200, "GET", "/api/notifications", nil)["notifications"].([]any)) == 0
	})
	n.Want(t, 404, "POST", "/api/notifications/webhook:ended:"+second+":9/retry", nil)
	n.Want(t, 404, "POST", "/api/notifications/nonsense/retry", nil)
	rig.Release(t, dir)
	n.Await(t, first, "received")

	guide := must.Get(os.ReadFile("../../docs/how-to/find-out.md"))(t)
	var served string
	must.Eventually(t, "the job's callback to be counted", func() bool { // after it was answered
		served = n.Metrics(t)
		return strings.Contains(served, "# HELP ringback_callback_seconds ")
	})
	for _, found := range regexp.MustCompile("`(ringback_[a-z_]+)").FindAllStringSubmatch(string(guide), -1) {
		some := found[1] == "ringback_claude_limit_end_seconds" || found[1] == "ringback_actions_total" // only during a limit, and after an action
		if name := found[1]; !some && !strings.Contains(served, "# HELP "+name+" ") {
			t.Errorf("the guide names the metric %s, which there is not", name)
		}
	}

	before := n.Metric(t, "ringback_store_errors_total")
	redis.Kill()
	must.Eventually(t, "the errors of the store to be counted", func() bool { return n.Metric(t, "ringback_store_errors_total") > before })
}
