package machines

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// redisOf returns the process of a server's embedded Redis; 0 if there is none.
func redisOf(server int) int {
	for _, pid := range childrenOf(server) {
		// It has its own name only once it has executed.
		if name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); string(name) == "redis-server\n" {
			return pid
		}
	}
	return 0
}

// killRedis kills the embedded Redis, like a crash, and waits for the next one, which it
// returns; 0 if the server has ended.
func killRedis(t testing.TB, n *rig.Node) (next int) {
	t.Helper()
	old := redisOf(n.Cmd.Process.Pid)
	_ = syscall.Kill(old, syscall.SIGKILL)
	must.Eventually(t, "the embedded Redis to be started again", func() bool {
		select {
		case <-n.Exited():
			return true
		default:
		}
		next = redisOf(n.Cmd.Process.Pid)
		return next != 0 && next != old
	})
	return next
}

// reporter sends progress, and repeats each message until the response is 200. It sends
// slowly, because a repetition is recognized only among the last 64 messages.
type reporter struct {
	n        *rig.Node
	envelope object
	stop     chan struct{}
	mu       sync.Mutex
	accepted []string
	refused  int
	wrong    []string
}

func (r *reporter) run(name string) {
	for i := 0; ; i++ {
		select {
		case <-r.stop:
			return
		default:
		}
		message := fmt.Sprint(name, " ", i)
		for sent := false; !sent; time.Sleep(20 * time.Millisecond) {
			sent = r.send(message)
		}
	}
}

func (r *reporter) send(message string) bool {
	body, _ := json.Marshal(rig.With(r.envelope, object{"message": message}))
	resp, err := http.Post(r.n.URL+"/api/claude/progress", "application/json", strings.NewReader(string(body)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.wrong = append(r.wrong, err.Error())
		return true
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		r.accepted = append(r.accepted, message)
		return true
	case http.StatusServiceUnavailable:
		r.refused++
		if resp.Header.Get("Retry-After") == "" {
			r.wrong = append(r.wrong, "503 without Retry-After")
		}
		return false
	}
	r.wrong = append(r.wrong, resp.Status)
	return true
}

// What was answered with 200 survives a kill of Redis in the middle, and running work
// continues.
func TestTheEmbeddedRedisIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := rig.Start(t, vars{"CLAUDE_BIN": rig.PatientCLI(t, dir)})
	running := n.Create(t, object{"userId": "u1"})
	must.Eventually(t, "the CLI to start", func() bool { return len(starts(dir)) == 1 })
	id, envelope := n.Manual(t, object{"userId": "u2"})
	listener := n.Listen(t, "userId=u2")
	r := &reporter{n: n, envelope: envelope, stop: make(chan struct{})}
	var reporting sync.WaitGroup
	for i := range 4 {
		reporting.Go(func() { r.run(fmt.Sprint("from ", i)) })
	}
	for range 3 {
		time.Sleep(300 * time.Millisecond) // so that reports are in flight
		killRedis(t, n)
	}
	must.Eventually(t, "the server to be ready again", func() bool { status, _ := n.Ready(t); return status == http.StatusOK })
	close(r.stop)
	reporting.Wait()
	rig.Release(t, dir)
	if record := n.Await(t, running, "received"); record["turn"] != 1.0 || len(starts(dir)) != 1 {
		t.Errorf("the turn was started over: %v", record)
	}
	n.Want(t, http.StatusOK, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
	kept := map[string]int{}
	for _, e := range listener.Until("recipes:suggestions:received") {
		if message, ok := e["data"].(object)["message"].(string); ok {
			kept[message]++
		}
	}
	for _, message := range r.accepted {
		must.Equal(t, 1, kept[message], message, "was answered with 200, and heard … times")
	}
	if len(r.wrong) > 0 || len(r.accepted) == 0 {
		t.Errorf("%d were accepted; answered besides: %q", len(r.accepted), slices.Compact(r.wrong))
	}
	n.Await(t, id, "received")
	t.Logf("%d reports were accepted, %d refused for the time being", len(r.accepted), r.refused)
	if got := strings.Count(n.Log.String(), "the embedded Redis has ended: it is started again"); got != 3 || !strings.Contains(n.Log.String(), "signal: killed") {
		t.Errorf("three ends are logged %d times", got)
	}
}

// If restarting Redis does not help, the server reports why and ends, so that its
// supervisor restarts it.
func TestAServerWhoseRedisKeepsEndingSaysWhy(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	id := n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "received")
	for kills := 1; killRedis(t, n) != 0; kills++ {
		if kills == 5 {
			t.Fatal("it was started again five times")
		}
	}
	if code := n.Cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(n.Log.String(), "Error: the embedded Redis has ended: 5 times within 1m0s, at last: signal: killed") {
		t.Errorf("it ended with %d", code)
	}
	again := rig.Start(t, vars{"DATA_DIR": n.Dir})
	again.Await(t, id, "received")
}

// An upgrade does not wait for a server with an embedded store that was killed: no other uses that store.
func TestAKilledServerDoesNotKeepItsStoreFromMoving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := rig.Start(t, vars{"DATA_DIR": dir})
	n.Stop(t, syscall.SIGKILL)
	_, out, _ := rig.Ringback(t, vars{"DATA_DIR": dir}, "upgrade", "--finish", "--offline")
	must.Contain(t, out, "The store is in format ")
	must.NotContain(t, out, "READS UP TO", "servers that use it")
}
