package test

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
)

// patientCLI waits for a file and then posts the result, with the prompt's curl, which
// retries while no server responds. It records each start, and its signature before that.
func patientCLI(t testing.TB, dir string) string {
	t.Helper()
	return script(t, harness.CallsBack+`
value HMAC_SIGNATURE >> `+dir+`/signatures
echo "$@" >> `+dir+`/starts
while [ ! -e `+dir+`/go ]; do sleep 0.05; done
post suggestions '"reasoning":"Because.","suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup"}}]'
`)
}

func starts(dir string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, "starts"))
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func letGo(t testing.TB, dir string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
}

// restartable returns an environment in which a second node replaces the first: same
// address, same directory.
func restartable(t testing.TB, claude string) vars {
	t.Helper()
	port := freePort(t)
	return vars{
		"REDIS_URL": startRedis(t).URL, "LISTEN_ADDR": "127.0.0.1:" + port, "DATA_DIR": t.TempDir(), "CLAUDE_BIN": claude,
	}
}

// waiting is a server whose job's CLI runs, and waits for letGo.
type waiting struct {
	*node
	dir, id string
}

// startWaiting starts such a server in a restartable environment that env adds to.
func startWaiting(t testing.TB, env vars, args ...string) waiting {
	t.Helper()
	dir := t.TempDir()
	all := restartable(t, patientCLI(t, dir))
	maps.Copy(all, env)
	n := startNode(t, all, args...)
	w := waiting{node: n, dir: dir, id: n.create(t, object{"userId": "u1"})}
	eventually(t, "the CLI to start", func() bool { return len(starts(dir)) == 1 })
	return w
}

func TestRestartAdoptsTheRunningProcess(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]syscall.Signal{"asked to stop": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := startWaiting(t, nil)
			eventually(t, "its process to be recorded", func() bool { return strings.Contains(first.Log.String(), "turn started") })
			first.Stop(t, how)
			if got := len(processesIn(first.Dir)); got == 0 {
				t.Fatal("the process ended with the server")
			}
			second := startNode(t, first.env)
			eventually(t, "the process to be adopted", func() bool { return strings.Contains(second.Log.String(), "turn adopted") })
			letGo(t, first.dir)
			record := second.await(t, first.id, "received")
			if record["turn"] != 1.0 || len(starts(first.dir)) != 1 {
				t.Errorf("it took %v turns and %d processes, want 1", record["turn"], len(starts(first.dir)))
			}
			eventually(t, "no process and no file to be left", func() bool {
				entries, _ := os.ReadDir(filepath.Join(first.Dir, "nodes", "0", "jobs"))
				return len(processesIn(first.Dir)) == 0 && len(entries) == 0
			})
		})
	}
}

func TestResultSentWhileNoServerRunsArrives(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil)
	first.Stop(t, syscall.SIGTERM)
	letGo(t, first.dir) // curl gets no connection, and retries
	second := startNode(t, first.env)
	must.Equal(t, 1.0, second.await(t, first.id, "received")["turn"], "it took … turns")
}

func TestProcessThatDiedWithItsServerIsRungAgain(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil)
	first.Stop(t, syscall.SIGKILL)
	harness.EndProcessesUnder(first.Dir)
	letGo(t, first.dir)
	second := startNode(t, first.env)
	record := second.await(t, first.id, "received")
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
	letGo(t, first.dir)
	second := startNode(t, first.elsewhere(t))
	must.Equal(t, 2.0, second.await(t, first.id, "received")["turn"], "it took … turns")
}

func TestNodeThatWasTakenOverEndsItsProcess(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"NODE_TIMEOUT": "2s"})
	_ = first.Cmd.Process.Signal(syscall.SIGSTOP)
	second := startNode(t, first.elsewhere(t))
	eventually(t, "the second node to start its own", func() bool { return len(starts(first.dir)) == 2 })
	_ = first.Cmd.Process.Signal(syscall.SIGCONT)
	eventually(t, "the first node to end the process that is no longer its own", func() bool { return len(processesIn(first.Dir)) == 0 })
	letGo(t, first.dir)
	second.await(t, first.id, "received")
}

func TestJobThatKeepsLosingItsProcessFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := restartable(t, script(t, `until rm '`+dir+`/go' 2>/dev/null; do sleep 0.02; done; kill -9 $PPID; sleep 1000`)) // it kills the server
	first := startNode(t, env)
	id := first.want(t, 202, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": mealInput()})["requestId"].(string)
	for range 3 {
		letGo(t, dir)
		first.AwaitExit(t)
		harness.EndProcessesUnder(env["DATA_DIR"])
		if len(strings.Split(first.Log.String(), "turn started")) > 3 {
			break
		}
		first = startNode(t, env)
		if record := first.want(t, 200, "GET", "/api/jobs/"+id, nil); record["attempt"] == 3.0 {
			break
		}
	}
	record := first.await(t, id, "failed")
	if record["errorCode"] != "cli_failed" || !strings.Contains(record["error"].(string), "again and again") {
		t.Errorf("the record says %v: %v", record["errorCode"], record["error"])
	}
}

// A draining server reports it immediately, accepts jobs for a while, and then none.
func TestDrainWaitsForTheTurn(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, nil, "--drain", "--drain-grace", "1s")
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the server not to be ready", func() bool { status, _ := first.do(t, "GET", "/readyz", nil); return status == 503 })
	waiting := first.create(t, object{"userId": "u1"}) // a load balancer that has not noticed yet
	eventually(t, "jobs to be refused", func() bool {
		status, answer := first.do(t, "POST", "/api/jobs", object{"kind": "none"}) // an invalid one
		return status == 503 && strings.Contains(fmt.Sprint(answer), "This server is stopping and accepts no more jobs")
	})
	first.want(t, 200, "GET", "/api/jobs/"+first.id, nil)
	letGo(t, first.dir)
	first.AwaitExit(t)
	second := startNode(t, first.env)
	second.await(t, first.id, "received")
	second.await(t, waiting, "received")
	must.Equal(t, 2, len(starts(first.dir)), "processes were started, want one for each job")
}

// A draining node is alive: no other node takes over its turns, however long they last.
func TestDrainingNodeKeepsItsTurns(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"NODE_TIMEOUT": "1s"}, "--drain")
	second := startNode(t, first.elsewhere(t))
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "the first node to stop", func() bool { return strings.Contains(first.Log.String(), "stopping") })
	time.Sleep(3 * time.Second) // nothing must happen
	letGo(t, first.dir)
	first.AwaitExit(t)
	if record := second.await(t, first.id, "received"); record["turn"] != 1.0 || len(starts(first.dir)) != 1 {
		t.Errorf("it took %v turns and %d processes", record["turn"], len(starts(first.dir)))
	}
}

// If the only node drains, deadlines still expire.
func TestDrainEndsWithTheDeadlinesOfItsTurns(t *testing.T) {
	t.Parallel()
	first := startWaiting(t, vars{"CALLBACK_TIMEOUT": "3s"}, "--drain")
	_ = first.Cmd.Process.Signal(syscall.SIGTERM)
	first.AwaitExit(t)
	must.Equal(t, 0, len(processesIn(first.Dir)), "processes are left")
	startNode(t, first.env).await(t, first.id, "expired")
}

func TestEmbeddedStoreSurvivesThatAllIsKilled(t *testing.T) {
	t.Parallel()
	env := vars{"DATA_DIR": t.TempDir()}
	first := startNode(t, env)
	id, envelope := first.manual(t, object{"userId": "u1"})
	done := first.create(t, object{"userId": "u1", "kind": "meal-suggestions", "input": mealInput(), "options": object{}})
	want := first.await(t, done, "received")
	// The process group contains the server; its Redis has a separate one.
	for _, pid := range childrenOf(first.Cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	first.Stop(t, syscall.SIGKILL)
	second := startNode(t, env)
	got := second.await(t, done, "received")
	delete(got, "usage") // booked when the process has ended
	delete(want, "usage")
	delete(got, "updatedAt")
	delete(want, "updatedAt")
	must.Equal(t, want, got)
	second.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
	second.await(t, id, "received")
}

func childrenOf(pid int) []int { return harness.ChildrenOf(pid) }

func TestRedisAway(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	n := startNode(t, vars{"REDIS_URL": redis.URL})
	id, envelope := n.manual(t, object{"userId": "u1"})
	events := n.listen(t, "userId=u1")
	_ = redis.Cmd.Process.Kill()
	_ = redis.Cmd.Wait()

	for path, body := range map[string]any{
		"/api/jobs":               object{"kind": "meal-suggestions", "input": mealInput()},
		"/api/claude/suggestions": with(envelope, mealResult("Soup")),
		"/api/claude/progress":    with(envelope, object{"message": "x"}),
	} {
		status, answer := n.do(t, "POST", path, body)
		if status != http.StatusServiceUnavailable || !strings.Contains(answer["hint"].(string), "again") {
			t.Errorf("%s answered %d %v", path, status, answer)
		}
	}
	if status, answer := n.do(t, "GET", "/readyz", nil); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz answered %d %v", status, answer)
	}
	if status, _ := n.do(t, "GET", "/healthz", nil); status != http.StatusOK {
		t.Errorf("/healthz answered %d", status)
	}

	redis.Start(t)
	eventually(t, "the server to recover", func() bool {
		status, _ := n.do(t, "POST", "/api/claude/suggestions", with(envelope, mealResult("Soup")))
		return status == http.StatusOK
	})
	events.until("recipes:suggestions:received") // on the same connection
	must.Equal(t, 3, len(n.storedEvents(t, id, "")), "events")
	n.await(t, n.create(t, object{"userId": "u1", "kind": "meal-suggestions", "input": mealInput()}), "received")
}

func TestTwoResultsAtTheSameMoment(t *testing.T) {
	t.Parallel()
	redis := startRedis(t).URL
	nodes := []*node{startNode(t, vars{"REDIS_URL": redis}), startNode(t, vars{"REDIS_URL": redis}, "--role", "api")}
	for range 20 {
		id, envelope := nodes[0].manual(t, object{"userId": "u1"})
		statuses := make(chan int, 8)
		for i := range cap(statuses) {
			go func() {
				status, _ := nodes[i%2].do(t, "POST", "/api/claude/suggestions", with(envelope, mealResult(fmt.Sprint("Dish ", i))))
				statuses <- status
			}()
		}
		count := map[int]int{}
		for range cap(statuses) {
			count[<-statuses]++
		}
		must.Equal(t, map[int]int{200: 1, 409: 7}, count, "answers")
		must.Equal(t, 3, len(nodes[1].storedEvents(t, id, "")), "events")
	}
}

// After a server was killed, one of its children may hold the port for a moment.
func TestAPortThatIsAboutToBeFreeIsAwaited(t *testing.T) {
	t.Parallel()
	taken := must.Get(net.Listen("tcp", "127.0.0.1:"+freePort(t)))(t)
	time.AfterFunc(400*time.Millisecond, func() { taken.Close() })
	n := startNode(t, vars{"LISTEN_ADDR": taken.Addr().String(), "CLAUDE_BIN": "simulate"})
	n.want(t, 200, "GET", "/healthz", nil)
}
