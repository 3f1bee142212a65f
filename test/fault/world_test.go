package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// topology is a kind of store.
type topology struct {
	name string
	// nodes is the number of nodes.
	nodes int
	start func(*world) store
	// smallStore puts the only node's embedded store on the small disk, too.
	smallStore bool
	// forgets is true if the store may lose what it has accepted: a change that was pushed, and is made again
	// because the store has forgotten it, finds its branch taken.
	forgets bool
	crowd   crowd
}

// store is the store of one run.
type store struct {
	// url is its REDIS_URL; empty: embedded.
	url string
	// faults are the faults of the store itself.
	faults []fault
	// repair waits until it is whole again; nil if nothing needs to be done.
	repair func()
}

// world contains the nodes, their store, and the connections between them.
type world struct {
	t        testing.TB
	topology topology
	settings settings
	rand     *rand.Rand // for choosing faults
	store    store
	entry    *harness.Proxy // CLIs and clients reach nodes through it
	journal  *journal
	faults   *faultLog
	repos    *repositories
	users    int
	ears     *listeners
	// receiver receives notifications of jobs' ends.
	receiver *receiver
	// shortages are faults of a node's disk and descriptors.
	shortages []fault
	// ended is the number of jobs that have ended.
	ended atomic.Int64
	// losses are the periods in which the store may have gone back; gone are the jobs that
	// it has lost.
	losses losses
	gone   sync.Map

	// key is the clients' API key; empty in open mode.
	key string

	env []harness.Vars
	// place makes a node's process run where it belongs; nil: on this host.
	place []func(*exec.Cmd)
	mu    sync.Mutex
	nodes []*harness.Server
	logs  []*harness.Log // of all nodes that ever ran
}

func newWorld(t testing.TB, top topology, s settings) *world {
	t.Helper()
	w := &world{
		t: t, topology: top, settings: s, rand: rand.New(rand.NewPCG(s.seed, 1)), faults: &faultLog{},
		journal: &journal{t: t, dir: t.TempDir()}, repos: newRepositories(t), users: max(6, s.jobs/100),
	}
	write(t, w.journal.file(), "")
	w.prepareNodes()
	w.store = top.start(w)
	for i, env := range w.env {
		if env["REDIS_URL"] == "" {
			env["REDIS_URL"] = w.store.url
		}
		w.nodes = append(w.nodes, harness.StartWith(t, harness.Options{Env: env, Change: w.place[i]}))
		w.logs = append(w.logs, w.nodes[i].Log)
	}
	t.Cleanup(w.wakeAll)
	return w
}

// workers is the number of workers of a node.
const workers = 6

// prepareNodes gives each node an address and a directory that it keeps across restarts,
// and starts the entry in front of them.
func (w *world) prepareNodes() {
	self := must.Get(os.Executable())(w.t)
	prompts, schemas := kindsDirs(w.t, w.journal.witness())
	userLimit := "4"
	if w.settings.isFlooded() { // so that only the queue delays the noisy user
		userLimit = strconv.Itoa(workers * w.topology.nodes)
	}
	var addresses []string
	for range w.topology.nodes {
		address := "127.0.0.1:" + harness.FreePort(w.t)
		addresses = append(addresses, address)
		w.env = append(w.env, harness.Vars{
			"LISTEN_ADDR": address, "DATA_DIR": w.t.TempDir(), "CLAUDE_BIN": self, playsClaude: w.journal.dir,
			"PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas, "SANDBOX": "off", // the journal is outside of every job
			"NODE_TIMEOUT": "2s", "RETRY_BACKOFF": "100ms", "HOLD": "400ms", "WORKERS": strconv.Itoa(workers), "USER_LIMIT": userLimit,
			"CALLBACK_TIMEOUT": "2m", "LOG_LEVEL": "INFO",
		})
	}
	w.entry = harness.StartProxy(w.t, addresses...)
	for _, env := range w.env {
		env["CALLBACK_BASE_URL"] = "http://" + w.entry.Addr
	}
	w.place = make([]func(*exec.Cmd), len(w.env))
	w.shortages = w.smallDisk()
	w.startReceiver("127.0.0.1")
}

// node returns one of the running nodes.
func (w *world) node(i int) *harness.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[i]
}

// restart restarts a node after its process has ended.
func (w *world) restart(i int) {
	started := harness.StartWith(w.t, harness.Options{Env: w.env[i], Change: w.place[i]})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[i] = started
	w.logs = append(w.logs, started.Log)
}

// logged returns the lines that nodes have logged about a job.
func (w *world) logged(id string) (notes []note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, log := range w.logs {
		for line := range strings.Lines(log.String()) {
			text, found := strings.CutPrefix(strings.TrimSpace(line), "time=")
			at, rest, _ := strings.Cut(text, " ")
			if when, err := time.Parse(time.RFC3339Nano, at); found && err == nil && strings.Contains(rest, id) {
				notes = append(notes, note{Time: when.Local(), Who: fmt.Sprint("start", i), What: "logged", Value: fmt.Sprintf("%.300s", rest)})
			}
		}
	}
	return notes
}

// wakeAll resumes paused nodes, so that they can be stopped.
func (w *world) wakeAll() {
	for i := range w.env {
		wake(w.node(i).Cmd.Process.Pid)
	}
}

// processes returns the number of jobs' processes.
func (w *world) processes() int {
	count := 0
	for _, env := range w.env {
		count += len(harness.ProcessesUnder(env["DATA_DIR"] + "/nodes"))
		count += len(harness.ProcessesUnder(env["DATA_DIR"] + "/workspaces"))
	}
	return count
}

// answer is a response.
type answer struct {
	status int
	body   object
	text   []byte
}

// try sends one request through the entry. ok is false if no response arrived that reveals
// the outcome.
func (w *world) try(method, path string, body any) (a answer, ok bool) {
	return w.tryAs(w.key, method, path, body)
}

// tryAs is try with an API key.
func (w *world) tryAs(key, method, path string, body any) (a answer, ok bool) {
	payload := []byte{}
	if body != nil {
		payload, _ = json.Marshal(body)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.entry.Addr+path, bytes.NewReader(payload))
	if err != nil {
		w.t.Error(err)
		return a, false
	}
	req.Close = true // the next request may go to another node
	req.Header = header(key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return a, false
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil || resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		return a, false
	}
	a = answer{status: resp.StatusCode, text: text.Bytes()}
	_ = json.Unmarshal(a.text, &a.body)
	return a, true
}

// header returns the credentials of a request.
func header(key string) http.Header {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return header
}

// patience is how long something is retried during faults.
const patience = 3 * time.Minute

// ask repeats a request until there is a response.
func (w *world) ask(method, path string, body any) answer { return w.askAs(w.key, method, path, body) }

// askAs is ask with an API key.
func (w *world) askAs(key, method, path string, body any) answer {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(100) {
		if a, ok := w.tryAs(key, method, path, body); ok {
			return a
		}
	}
	w.t.Errorf("%s: %s %s was never answered", w.topology.name, method, path)
	return answer{}
}

// list requests an array under a name.
func (w *world) list(path, name string) []object {
	var all []object
	items, _ := w.ask(http.MethodGet, path, nil).body[name].([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

// choice returns a number below n that depends only on the seed and the words: it is the
// same in every run with that seed, whatever the timing.
func (w *world) choice(n int, words ...any) int {
	h := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprint(w.settings.seed, words)) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return int((h ^ h>>29) % uint64(n))
}

// faultLog contains the faults and their times.
type faultLog struct {
	mu   sync.Mutex
	list []note
}

func (f *faultLog) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, note{Time: time.Now(), Who: "fault", What: name})
}

func (f *faultLog) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]int{}
	for _, n := range f.list {
		counts[n.What]++
	}
	return counts
}

// between returns the faults in a period.
func (f *faultLog) between(begin, end time.Time) []note {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.list), func(n note) bool { return n.Time.Before(begin) || n.Time.After(end) })
}
