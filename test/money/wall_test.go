package money

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// limitedCLI is a CLI at a rate limit until the file "lifted" exists: until then each turn
// records its beginning and end, and reports that the account has had too many requests.
func limitedCLI(t *testing.T) (dir string, env vars) {
	t.Helper()
	dir = t.TempDir()
	return dir, vars{
		"REDIS_URL": rig.StartRedis(t).URL, "ANTHROPIC_API_KEY": "sk-of-one-account", "NODE_TIMEOUT": "1s", "RETRY_BACKOFF": "50ms",
		"CLAUDE_BIN": rig.Script(t, harness.CallsBack+`
if [ -e `+dir+`/lifted ]; then
  result='"summary":"Done."'
  if [ -z "$(ls -d */)" ]; then result='"reasoning":"Because.","suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup","source":"Own recipe"}}]'; fi
  post result "$result"
  exit
fi
echo "begin $$ $PWD" >> `+dir+`/turns
sleep 0.3
echo "end $$" >> `+dir+`/turns
echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: too many requests"}'
exit 1`),
	}
}

// turnsIn returns what the turns have recorded.
func turnsIn(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "turns"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Two nodes share one rate-limited account: queued jobs show the limit and its end, and one
// turn of the two nodes probes at a time.
func TestTwoNodesAtOneLimit(t *testing.T) {
	t.Parallel()
	dir, env := limitedCLI(t)
	one, other := rig.Start(t, env), rig.Start(t, env)
	first := one.Create(t, object{"userId": "u0"})
	awaitLimit(t, one, first)
	met := len(turnsIn(t, dir))
	var all []string
	for i := range 6 {
		id := other.Create(t, object{"userId": fmt.Sprintf("u%d", i+1)})
		all = append(all, id)
		record := one.Want(t, 200, "GET", "/api/jobs/"+id, nil)
		if tries := record["status"] == "running"; !tries && (record["status"] != "pending" || record["phase"] != "waiting_for_limit") {
			t.Errorf("behind the limit it is %v", record)
		}
	}
	listed := one.Want(t, 200, "GET", "/api/jobs?status=pending", nil)["jobs"].([]any)
	for _, j := range listed {
		if j.(object)["phase"] != "waiting_for_limit" {
			t.Errorf("listed is %v", j)
		}
	}
	cli := rig.CommandLine(t, one)
	must.Eventually(t, "the command line to name the limit", func() bool { // a job may be probing at that moment
		return strings.Contains(cli("status", all[0])+cli("status", all[1]), "limit")
	})
	must.Contain(t, cli("doctor"), "Claude is at a limit (rate_limited)", "ringback doctor")
	must.Contain(t, rig.JSON(one.Want(t, 200, "GET", "/api/stats", nil)), "rate_limited", "statistics are")
	must.Eventually(t, "three more turns to try", func() bool { return len(turnsIn(t, dir)) >= met+6 })
	for i, line := range turnsIn(t, dir)[met:] {
		if begins := strings.HasPrefix(line, "begin"); begins != (i%2 == 0) {
			t.Errorf("several tried at once:\n%s", strings.Join(turnsIn(t, dir), "\n"))
			break
		}
	}
	rig.OpenGate(t, filepath.Join(dir, "lifted"))
	for _, id := range append(all, first) {
		if record := one.Await(t, id, "received"); record["attempt"] != nil {
			t.Errorf("it cost attempts: %v", record)
		}
	}
	if record := one.Want(t, 200, "GET", "/api/jobs?status=pending", nil); len(record["jobs"].([]any)) != 0 {
		t.Errorf("some are left: %v", record)
	}
}

// A turn gives its worker back while its repositories are prepared. Jobs that wait for the
// end of the limit must not keep the one probing turn from getting a worker.
func TestTheTurnThatTriesGetsItsWorkerBack(t *testing.T) {
	t.Parallel()
	dir, env := limitedCLI(t)
	env["WORKERS"] = "1"
	n := rig.Start(t, env)
	change := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{
		"prompt": "Do it", "repos": []any{object{"url": rig.GoRepository(t, "service")}},
	}})
	awaitLimit(t, n, change)
	behind := n.Create(t, object{"userId": "u2"})
	must.Eventually(t, "more turns to try", func() bool { return len(turnsIn(t, dir)) >= 6 })
	rig.OpenGate(t, filepath.Join(dir, "lifted"))
	n.OpenCheckpoint(t, change, "awaiting_approval")
	n.Await(t, behind, "received")
}
