package machines

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func starts(dir string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, "starts"))
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// waiting is a server whose job's CLI runs, and waits for rig.Release.
type waiting struct {
	*rig.Node
	dir, id string
}

// startWaiting starts such a server in a restartable environment that env adds to.
func startWaiting(t testing.TB, env vars, args ...string) waiting {
	t.Helper()
	dir := t.TempDir()
	all := rig.Restartable(t, rig.PatientCLI(t, dir))
	maps.Copy(all, env)
	n := rig.Start(t, all, args...)
	w := waiting{Node: n, dir: dir, id: n.Create(t, object{"userId": "u1"})}
	must.Eventually(t, "the CLI to start", func() bool { return len(starts(dir)) == 1 })
	return w
}

func TestRestartAdoptsTheRunningProcess(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]syscall.Signal{"asked to stop": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := startWaiting(t, nil)
			must.Eventually(t, "its process to be recorded", func() bool { return strings.Contains(first.Log.String(), "turn started") })
			first.Stop(t, how)
			if got := len(rig.ProcessesIn(first.Dir)); got == 0 {
				t.Fatal("the process ended with the server")
			}
			second := rig.Start(t, first.Env)
			must.Eventually(t, "the process to be adopted", func() bool { return strings.Contains(second.Log.String(), "turn adopted") })
			rig.Release(t, first.dir)
			record := second.Await(t, first.id, "received")
			if record["turn"] != 1.0 || len(starts(first.dir)) != 1 {
				t.Errorf("it took %v turns and %d processes, want 1", record["turn"], len(starts(first.dir)))
			}
			must.Eventually(t, "no process and no file to be left", func() bool {
				entries, _ := os.ReadDir(filepath.Join(first.Dir, "nodes", "0", "jobs"))
				return len(rig.ProcessesIn(first.Dir)) == 0 && len(entries) == 0
			})
		})
	}
}

func TestResultSentWhileNoServerRunsArrives(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil)
	first.Stop(t, syscall.SIGTERM)
	rig.Release(t, first.dir) // curl gets no connection, and retries
	second := rig.Start(t, first.Env)
	must.Equal(t, 1.0, second.Await(t, first.id, "received")["turn"], "it took … turns")
}

func TestProcessThatDiedWithItsServerIsRungAgain(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil)
	first.Stop(t, syscall.SIGKILL)
	harness.EndProcessesUnder(first.Dir)
	rig.Release(t, first.dir)
	second := rig.Start(t, first.Env)
	record := second.Await(t, first.id, "received")
	must.Equal(t, 2.0, record["turn"], "it took … turns")
	if all := starts(first.dir); len(all) != 2 || !strings.Contains(all[1], "--resume") {
		t.Errorf("the second process must resume the conversation: %q", all)
	}
}

func TestAnotherNodeTakesOverFromOneThatIsGone(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"NODE_TIMEOUT": "2s"})
	first.Stop(t, syscall.SIGKILL)
	harness.EndProcessesUnder(first.Dir)
	rig.Release(t, first.dir)
	second := rig.Start(t, first.Elsewhere(t))
	must.Equal(t, 2.0, second.Await(t, first.id, "received")["turn"], "it took … turns")
}

func TestNodeThatWasTakenOverEndsItsProcess(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"NODE_TIMEOUT": "2s"})
	_ = first.Cmd.Process.Signal(syscall.SIGSTOP)
	second := rig.Start(t, first.Elsewhere(t))
	must.Eventually(t, "the second node to start its own", func() bool { return len(starts(first.dir)) == 2 })
	_ = first.Cmd.Process.Signal(syscall.SIGCONT)
	must.Eventually(t, "the first node to end the process that is no longer its own", func() bool { return len(rig.ProcessesIn(first.Dir)) == 0 })
	rig.Release(t, first.dir)
	second.Await(t, first.id, "received")
}

func TestJobThatKeepsLosingItsProcessFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := rig.Restartable(t, rig.Script(t, `until rm '`+dir+`/go' 2>/dev/null; do sleep 0.02; done; kill -9 $PPID; sleep 1000`)) // it kills the server
	first := rig.Start(t, env)
	id := first.Want(t, 202, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": rig.MealInput()})["requestId"].(string)
	for range 3 {
		rig.Release(t, dir)
		first.AwaitExit(t)
		harness.EndProcessesUnder(env["DATA_DIR"])
		if len(strings.Split(first.Log.String(), "turn started")) > 3 {
			break
		}
		first = rig.Start(t, env)
		if record := first.Want(t, 200, "GET", "/api/jobs/"+id, nil); record["attempt"] == 3.0 {
			break
		}
	}
	record := first.Await(t, id, "failed")
	if record["errorCode"] != "cli_failed" || !strings.Contains(record["error"].(string), "repeatedly") {
		t.Errorf("the record says %v: %v", record["errorCode"], record["error"])
	}
}

// A draining server reports it immediately, accepts jobs for a while, and then none.
func TestDrainWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil, "--drain", "--drain-grace", "1s")
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	must.Eventually(t, "the server not to be ready", func() bool { status, _ := first.Ready(t); return status == 503 })
	waiting := first.Create(t, object{"userId": "u1"}) // a load balancer that has not noticed yet
	must.Eventually(t, "jobs to be refused", func() bool {
		status, answer := first.Do(t, "POST", "/api/jobs", object{"kind": "none"}) // an invalid one
		return status == 503 && strings.Contains(fmt.Sprint(answer), "This server is stopping and accepts no more jobs")
	})
	first.Want(t, 200, "GET", "/api/jobs/"+first.id, nil)
	rig.Release(t, first.dir)
	first.AwaitExit(t)
	second := rig.Start(t, first.Env)
	second.Await(t, first.id, "received")
	second.Await(t, waiting, "received")
	must.Equal(t, 2, len(starts(first.dir)), "processes were started, want one for each job")
}

// A draining node is alive: no other node takes over its turns, however long they last.
func TestDrainingNodeKeepsItsTurns(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"NODE_TIMEOUT": "1s"}, "--drain")
	second := rig.Start(t, first.Elsewhere(t))
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	must.Eventually(t, "the first node to stop", func() bool { return strings.Contains(first.Log.String(), "stopping") })
	time.Sleep(3 * time.Second) // nothing must happen
	rig.Release(t, first.dir)
	first.AwaitExit(t)
	if record := second.Await(t, first.id, "received"); record["turn"] != 1.0 || len(starts(first.dir)) != 1 {
		t.Errorf("it took %v turns and %d processes", record["turn"], len(starts(first.dir)))
	}
}

// If the only node drains, deadlines still expire.
func TestDrainEndsWithTheDeadlinesOfItsTurns(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"CALLBACK_TIMEOUT": "3s"}, "--drain")
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	first.AwaitExit(t)
	must.Equal(t, 0, len(rig.ProcessesIn(first.Dir)), "processes are left")
	rig.Start(t, first.Env).Await(t, first.id, "expired")
}

func TestEmbeddedStoreSurvivesThatAllIsKilled(t *testing.T) {
	t.Parallel()
	env := vars{"DATA_DIR": t.TempDir()}
	first := rig.Start(t, env)
	id, envelope := first.Manual(t, object{"userId": "u1"})
	done := first.Create(t, object{"userId": "u1", "kind": "meal-suggestions", "input": rig.MealInput(), "options": object{}})
	want := first.Await(t, done, "received")
	// The process group contains the server; its Redis has a separate one.
	for _, pid := range childrenOf(first.Cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	first.Stop(t, syscall.SIGKILL)
	second := rig.Start(t, env)
	got := second.Await(t, done, "received")
	delete(got, "usage") // booked when the process has ended
	delete(want, "usage")
	delete(got, "updatedAt")
	delete(want, "updatedAt")
	must.Equal(t, want, got)
	second.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
	second.Await(t, id, "received")
}

func childrenOf(pid int) []int { return harness.ChildrenOf(pid) }

func TestRedisAway(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t)
	n := rig.Start(t, vars{"REDIS_URL": redis.URL})
	id, envelope := n.Manual(t, object{"userId": "u1"})
	events := n.Listen(t, "userId=u1")
	_ = redis.Cmd.Process.Kill()
	_ = redis.Cmd.Wait()

	for path, body := range map[string]any{
		"/api/jobs":               object{"kind": "meal-suggestions", "input": rig.MealInput()},
		"/api/claude/suggestions": rig.With(envelope, rig.MealResult("Soup")),
		"/api/claude/progress":    rig.With(envelope, object{"message": "x"}),
	} {
		status, answer := n.Do(t, "POST", path, body)
		if status != http.StatusServiceUnavailable || !strings.Contains(answer["hint"].(string), "again") {
			t.Errorf("%s answered %d %v", path, status, answer)
		}
	}
	if status, answer := n.Ready(t); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz answered %d %v", status, answer)
	}
	if status, _ := n.Do(t, "GET", "/healthz", nil); status != http.StatusOK {
		t.Errorf("/healthz answered %d", status)
	}

	redis.Start(t)
	must.Eventually(t, "the server to recover", func() bool {
		status, _ := n.Do(t, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
		return status == http.StatusOK
	})
	events.Until("recipes:suggestions:received") // on the same connection
	must.Equal(t, 3, len(n.StoredEvents(t, id, "")), "events")
	n.Await(t, n.Create(t, object{"userId": "u1", "kind": "meal-suggestions", "input": rig.MealInput()}), "received")
}

func TestTwoResultsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t).URL
	nodes := []*rig.Node{rig.Start(t, vars{"REDIS_URL": redis}), rig.Start(t, vars{"REDIS_URL": redis}, "--role", "api")}
	for range 20 {
		id, envelope := nodes[0].Manual(t, object{"userId": "u1"})
		statuses := make(chan int, 8)
		for i := range cap(statuses) {
			go func() {
				status, _ := nodes[i%2].Do(t, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult(fmt.Sprint("Dish ", i))))
				statuses <- status
			}()
		}
		count := map[int]int{}
		for range cap(statuses) {
			count[<-statuses]++
		}
		must.Equal(t, map[int]int{200: 1, 409: 7}, count, "answers")
		must.Equal(t, 3, len(nodes[1].StoredEvents(t, id, "")), "events")
	}
}

// After a server was killed, one of its children may hold the port for a moment.
func TestAPortThatIsAboutToBeFreeIsAwaited(t *testing.T) {
	t.Parallel()
	taken := must.Get(net.Listen("tcp", "127.0.0.1:"+harness.FreePort(t)))(t)
	time.AfterFunc(400*time.Millisecond, func() { taken.Close() })
	n := rig.Start(t, vars{"LISTEN_ADDR": taken.Addr().String(), "CLAUDE_BIN": "simulate"})
	n.Want(t, 200, "GET", "/healthz", nil)
}
