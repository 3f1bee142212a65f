package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/scan"
)

// TestFaults runs jobs on three nodes while nodes, CLIs, Redis and connections
// are killed, paused, cut and delayed at random, and checks from the outside
// that nothing was lost, doubled or left behind. FAULT_SEED repeats a run,
// FAULT_JOBS sets its length.
func TestFaults(t *testing.T) {
	jobs, err := strconv.Atoi(os.Getenv("FAULT_JOBS"))
	if err != nil {
		jobs = 200
	}
	seed, err := strconv.ParseUint(os.Getenv("FAULT_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("FAULT_SEED=%d", seed)
	w := newWorld(t, seed)
	listening, stopListening := context.WithCancel(t.Context())
	var listeners sync.WaitGroup
	heard := make([]map[int64]object, users)
	for u := range users {
		heard[u] = map[int64]object{}
		listeners.Go(func() { w.listenThroughFaults(listening, u, heard[u]) })
	}
	chaos, stopChaos := context.WithCancel(t.Context())
	var causing sync.WaitGroup
	causing.Go(func() { w.causeFaults(chaos) })

	ids := w.createJobs(jobs)
	w.awaitMost(ids, len(ids)*9/10)
	stopChaos()
	causing.Wait()
	w.repair()
	records := w.awaitMost(ids, len(ids))

	w.checkRecords(records)
	eventually(t, "listeners to hear the last event", func() bool { return w.heardAll(records) })
	stopListening()
	listeners.Wait()
	w.checkEvents(records, heard)
	eventually(t, "all processes of the jobs to end", func() bool { return w.processes() == 0 })
	t.Logf("%d jobs through %v", len(ids), w.faults)
}

const users = 10

// world is three nodes, their Redis, and the ways between them.
type world struct {
	t      *testing.T
	rand   *rand.Rand
	redis  *redisServer
	port   string // of Redis
	toDB   *proxy // nodes reach Redis through it
	entry  *proxy // CLIs and clients reach nodes through it
	nodes  [3]*node
	env    [3]vars
	dir    string
	faults map[string]int
	mu     sync.Mutex
	last   map[string]string // event id of each job's end
	seen   map[string]bool   // of those, the ones heard
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), redis: startRedis(t), dir: t.TempDir(),
		faults: map[string]int{}, last: map[string]string{}, seen: map[string]bool{},
	}
	w.port = w.redis.Port
	w.toDB = startProxy(t, "127.0.0.1:"+w.port)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	prompts := kindsDir(t, "chaos.md", "---\nmax_attempts: 20\n---\nDo it.")
	schemas := kindsDir(t, "chaos.result.json", `{"type":"object","required":["value"],"properties":{"value":{"type":"string"}}}`)
	var addresses []string
	for i := range w.nodes {
		address := "127.0.0.1:" + freePort(t)
		addresses = append(addresses, address)
		w.env[i] = vars{
			"LISTEN_ADDR": address, "DATA_DIR": t.TempDir(), "REDIS_URL": "redis://default:" + scan.RedisPassword + "@" + w.toDB.addr, "CLAUDE_BIN": self, playChaos: w.dir,
			"PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas, "NODE_TIMEOUT": "2s", "RETRY_BACKOFF": "100ms", "WORKERS": "6", "USER_LIMIT": "4",
			"CALLBACK_TIMEOUT": "90s", "LOG_LEVEL": "WARN",
		}
	}
	w.entry = startProxy(t, addresses...)
	for i := range w.nodes {
		w.env[i]["CALLBACK_BASE_URL"] = "http://" + w.entry.addr
		w.nodes[i] = startNode(t, w.env[i])
	}
	return w
}

// ask sends a request through the entry until it is answered.
func (w *world) ask(method, path string, body any) object {
	payload, _ := json.Marshal(body)
	client := http.Client{Timeout: 5 * time.Second}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.entry.addr+path, strings.NewReader(string(payload)))
		if err != nil {
			w.t.Fatal(err)
		}
		req.Close = true // the next request may go to another node
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		var answer object
		err = json.NewDecoder(resp.Body).Decode(&answer)
		resp.Body.Close()
		if err == nil && resp.StatusCode < 300 {
			return answer
		}
	}
	w.t.Fatalf("%s %s was never answered", method, path)
	return nil
}

func (w *world) createJobs(count int) []string {
	ids := make([]string, count)
	for i := range ids {
		answer := w.ask("POST", "/api/jobs", object{
			"kind": "chaos", "userId": fmt.Sprint("u", i%users), "idempotencyKey": fmt.Sprint("job ", i),
		})
		ids[i] = answer["requestId"].(string)
	}
	return ids
}

// awaitMost waits until that many jobs have ended, and returns their records.
func (w *world) awaitMost(ids []string, count int) map[string]object {
	records := map[string]object{}
	for deadline := time.Now().Add(3 * time.Minute); len(records) < count; time.Sleep(100 * time.Millisecond) {
		for _, id := range ids {
			if records[id] != nil {
				continue
			}
			if record := w.ask("GET", "/api/jobs/"+id, nil); record["finishedAt"] != nil {
				records[id] = record
			}
		}
		if time.Now().After(deadline) {
			for _, id := range ids {
				if records[id] == nil {
					w.t.Logf("not ended: %v", w.ask("GET", "/api/jobs/"+id, nil))
				}
			}
			w.t.Fatalf("%d of %d jobs have ended", len(records), count)
		}
	}
	return records
}

// causeFaults lets something happen every so often until ctx ends.
func (w *world) causeFaults(ctx context.Context) {
	type fault struct {
		name string
		do   func()
	}
	faults := []fault{
		{"node killed", func() { w.restart(syscall.SIGKILL) }},
		{"node stopped", func() { w.restart(syscall.SIGTERM) }},
		{"node paused", w.pauseNode},
		{"CLI killed", func() { w.signalCLI(syscall.SIGKILL) }},
		{"CLI paused", w.pauseCLI},
		{"Redis killed", w.restartRedis},
		{"connections to Redis cut", w.toDB.cut},
		{"connections to nodes cut", w.entry.cut},
		{"Redis slow", func() { w.slow(w.toDB) }},
		{"nodes slow", func() { w.slow(w.entry) }},
	}
	for ctx.Err() == nil {
		f := faults[w.rand.IntN(len(faults))]
		w.faults[f.name]++
		f.do()
		w.sleep(250)
	}
}

func (w *world) sleep(most int) { time.Sleep(time.Duration(w.rand.IntN(most)) * time.Millisecond) }

func (w *world) restart(how syscall.Signal) {
	i := w.rand.IntN(len(w.nodes))
	w.nodes[i].stop(w.t, how)
	w.sleep(500)
	w.nodes[i] = startNode(w.t, w.env[i])
}

func (w *world) pauseNode() {
	n := w.nodes[w.rand.IntN(len(w.nodes))]
	_ = n.cmd.Process.Signal(syscall.SIGSTOP)
	w.sleep(4000) // longer than NODE_TIMEOUT, now and then
	_ = n.cmd.Process.Signal(syscall.SIGCONT)
}

func (w *world) cli() int {
	pids := processesIn(w.nodes[w.rand.IntN(len(w.nodes))].dir)
	if len(pids) == 0 {
		return 0
	}
	return pids[w.rand.IntN(len(pids))]
}

func (w *world) signalCLI(s syscall.Signal) {
	if pid := w.cli(); pid != 0 {
		_ = syscall.Kill(pid, s)
	}
}

func (w *world) pauseCLI() {
	if pid := w.cli(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		time.AfterFunc(time.Second, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}
}

func (w *world) restartRedis() {
	_ = w.redis.Cmd.Process.Kill()
	_ = w.redis.Cmd.Wait()
	w.sleep(500)
	w.redis.Start(w.t)
}

func (w *world) slow(p *proxy) {
	p.delay.Store(int64(20 * time.Millisecond))
	w.sleep(1000)
	p.delay.Store(0)
}

// repair undoes what may still be broken.
func (w *world) repair() {
	for _, p := range []*proxy{w.toDB, w.entry} {
		p.delay.Store(0)
	}
}

func (w *world) processes() int {
	count := 0
	for _, n := range w.nodes {
		count += len(processesIn(n.dir))
	}
	return count
}

// checkRecords holds the records to what the CLIs were told.
func (w *world) checkRecords(records map[string]object) {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.dir, "accepted"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	messages := w.storedMessages(records)
	count := 0
	for lines := bufio.NewScanner(f); lines.Scan(); count++ {
		var a accepted
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			w.t.Fatal(err)
		}
		switch record := records[a.ID]; {
		case a.What == "result" && (record["status"] != "received" || record["result"].(object)["value"] != a.Value):
			w.t.Errorf("accepted %q, but the record is %v", a.Value, record)
		case a.What == "progress" && messages[a.ID][a.Value] != 1:
			w.t.Errorf("accepted %q of %s, which has %d events", a.Value, a.ID, messages[a.ID][a.Value])
		}
	}
	for id, record := range records {
		if record["status"] != "received" {
			w.t.Errorf("%s is %v: %v", id, record["status"], record["error"])
		}
	}
	w.t.Logf("%d callbacks were accepted", count)
}

// storedMessages counts the activity events of each job by message, and checks
// that each job ended once.
func (w *world) storedMessages(records map[string]object) map[string]map[string]int {
	messages := map[string]map[string]int{}
	for id := range records {
		messages[id] = map[string]int{}
		ends := 0
		for _, e := range w.ask("GET", "/api/jobs/"+id+"/events", nil)["events"].([]any) {
			event := e.(object)
			switch event["event"] {
			case "chaos:activity":
				messages[id][event["data"].(object)["message"].(string)]++
			case "chaos:received", "chaos:error", "chaos:cancelled", "chaos:rejected":
				ends++
				w.last[id] = event["id"].(string)
			}
		}
		if ends != 1 {
			w.t.Errorf("%s has ended %d times", id, ends)
		}
	}
	return messages
}

// listenThroughFaults hears a user's events, over as many connections as it
// takes, each resuming where the one before broke off.
func (w *world) listenThroughFaults(ctx context.Context, user int, heard map[int64]object) {
	since := "0"
	for ctx.Err() == nil {
		conn, resp, err := websocket.DefaultDialer.DialContext(ctx, fmt.Sprintf("ws://%s/ws?userId=u%d&since=%s", w.entry.addr, user, since), nil)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		resp.Body.Close()
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		for {
			var e object
			if conn.ReadJSON(&e) != nil {
				break
			}
			since, _ = e["id"].(string)
			id, err := strconv.ParseInt(since, 10, 64)
			if err != nil {
				w.t.Errorf("user %d heard %v", user, e)
				return
			}
			if heard[id] != nil {
				w.t.Errorf("user %d heard event %d twice", user, id)
			}
			heard[id] = e
			w.mu.Lock()
			w.seen[since] = true
			w.mu.Unlock()
		}
		stop()
		conn.Close()
	}
}

func (w *world) heardAll(records map[string]object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range records {
		if !w.seen[w.last[id]] {
			return false
		}
	}
	return true
}

// checkEvents checks that the ids heard by each user have no gap.
func (w *world) checkEvents(records map[string]object, heard []map[int64]object) {
	w.t.Helper()
	for user, events := range heard {
		lowest, highest := int64(1<<62), int64(0)
		for id := range maps.Keys(events) {
			lowest, highest = min(lowest, id), max(highest, id)
		}
		if missing := highest - lowest + 1 - int64(len(events)); missing != 0 {
			w.t.Errorf("user %d missed %d of %d events", user, missing, highest-lowest+1)
		}
	}
	if len(records) == 0 {
		w.t.Error("no job has ended")
	}
}
