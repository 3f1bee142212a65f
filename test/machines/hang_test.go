package machines

import (
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// Redis accepts calls and does not respond: it is stopped, or its disk hangs. The first
// calls wait for a while, then all are rejected immediately, and clients retry. When it
// responds, everything continues, and no job has lost an attempt.
func TestAStoreThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t)
	dir := t.TempDir()
	env := vars{"REDIS_URL": redis.URL, "CLAUDE_BIN": rig.PatientCLI(t, dir), "NODE_TIMEOUT": "3s"}
	nodes := []*rig.Node{rig.Start(t, env), rig.Start(t, env)}
	var ids []string
	for _, n := range nodes { // each runs some of the jobs
		for range 3 {
			ids = append(ids, n.Create(t, object{"userId": n.URL}))
		}
	}
	must.Eventually(t, "the CLIs to start", func() bool { return len(starts(dir)) == len(ids) })
	_, envelope := nodes[0].Manual(t, object{"userId": "u1"})

	_ = redis.Cmd.Process.Signal(syscall.SIGSTOP)
	defer func() { _ = redis.Cmd.Process.Signal(syscall.SIGCONT) }()
	var first sync.WaitGroup
	for _, n := range nodes {
		first.Go(func() { wantRefused(t, n, "GET", "/api/jobs", "", patient) }) // for longer than NODE_TIMEOUT
		first.Go(func() { wantRefused(t, n, "GET", "/readyz", "", quick) })
	}
	first.Wait()
	rig.Release(t, dir) // the results are sent while the store cannot accept them, and retried
	for _, path := range []string{"/api/jobs", "/api/jobs/" + ids[0], "/api/checkpoints", "/readyz"} {
		wantRefused(t, nodes[0], "GET", path, "", quick)
	}
	result := rig.With(envelope, rig.MealResult("Soup"))
	wantRefused(t, nodes[1], "POST", "/api/claude/suggestions", rig.JSON(result), quick)
	_ = redis.Cmd.Process.Signal(syscall.SIGCONT)

	for _, n := range nodes {
		must.Eventually(t, "the node to be ready", func() bool { status, _ := n.Ready(t); return status == http.StatusOK })
		if said := strings.Count(n.Log.String(), "store unresponsive"); said == 0 {
			t.Error("that the store hangs is not logged")
		}
	}
	nodes[1].Want(t, 200, "POST", "/api/claude/suggestions", result)
	for _, id := range ids {
		if record := nodes[0].Await(t, id, "received"); record["turn"] != 1.0 || record["attempt"] != nil {
			t.Errorf("a job took %v turns, attempt %v", record["turn"], record["attempt"])
		}
	}
}

// The first calls wait up to 4 s for a store that hangs, later ones do not wait; without the breaker
// each took more than 20 s. The limits leave room for a busy machine.
const quick, patient = 5 * time.Second, 12 * time.Second

// wantRefused sends a request that must be answered within a time, with 503 and
// Retry-After.
func wantRefused(t testing.TB, n *rig.Node, method, path, body string, within time.Duration) {
	t.Helper()
	begun := time.Now()
	resp := n.Respond(t, method, path, body)
	took := time.Since(begun)
	wait := ""
	if path != "/readyz" { // which only probes ask
		wait = "1"
	}
	if again := resp.Header.Get("Retry-After"); resp.Status != http.StatusServiceUnavailable || again != wait || took > within {
		t.Errorf("%s %s answered %d after %s, want 503 within %s; to be sent again after %q s", method, path, resp.Status, took, within, again)
	}
}
