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
)

// topology is what jobs can be stored in.
type topology struct {
	name string
	// nodes is how many run on it.
	nodes int
	start func(*world) store
}

// store is one of them, for one run.
type store struct {
	// url is its REDIS_URL; empty: embedded.
	url string
	// faults are those of the store itself.
	faults []fault
	// repair waits until it is whole again; nil where nothing is to be done.
	repair func()
}

// world is the nodes, what they store in, and the ways there.
type world struct {
	t        testing.TB
	topology topology
	settings settings
	rand     *rand.Rand // of the faults
	store    store
	entry    *harness.Proxy // CLIs and clients reach nodes through it
	journal  *journal
	faults   *faultLog
	repos    *repositories
	users    int
	ears     *listeners
	// receiver is told how jobs end.
	receiver *receiver
	// shortages are the faults of the disk of a node.
	shortages []fault
	// ended counts the jobs that have.
	ended atomic.Int64
	// losses are when the store may have gone back; gone are the jobs that it has lost.
	losses losses
	gone   sync.Map

	// key lets clients in; empty where everybody may.
	key string

	env []harness.Vars
	// place puts the process of a node where it belongs; nil: on this host.
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
		w.nodes = append(w.nodes, harness.StartUnscanned(t, env, w.place[i]))
		w.logs = append(w.logs, w.nodes[i].Log)
	}
	t.Cleanup(w.wakeAll)
	return w
}

// workers is how many a node has.
const workers = 6

// prepareNodes gives each node an address and a directory that it keeps across restarts,
// and puts the entry in front of them.
func (w *world) prepareNodes() {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	prompts, schemas := kindsDirs(w.t, w.journal.witness())
	userLimit := "4"
	if w.settings.isFlooded() { // so that the queue alone is in the noisy user's way
		userLimit = strconv.Itoa(workers * w.topology.nodes)
	}
	var addresses []string
	for range w.topology.nodes {
		address := "127.0.0.1:" + harness.FreePort(w.t)
		addresses = append(addresses, address)
		w.env = append(w.env, harness.Vars{
			"LISTEN_ADDR": address, "DATA_DIR": w.t.TempDir(), "CLAUDE_BIN": self, playsClaude: w.journal.dir,
			"PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas, "SANDBOX": "off", // the journal lies outside of every job
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

// node is one of those that run now.
func (w *world) node(i int) *harness.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[i]
}

// restart starts a node again, once its process is gone.
func (w *world) restart(i int) {
	started := harness.StartUnscanned(w.t, w.env[i], w.place[i])
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[i] = started
	w.logs = append(w.logs, started.Log)
}

// logged are the lines that nodes have logged of a job.
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

// wakeAll lets nodes go on that were paused, so that they can be stopped.
func (w *world) wakeAll() {
	for i := range w.env {
		wake(w.node(i).Cmd.Process.Pid)
	}
}

// processes counts those that run for jobs.
func (w *world) processes() int {
	count := 0
	for _, env := range w.env {
		count += len(harness.ProcessesUnder(env["DATA_DIR"] + "/nodes"))
		count += len(harness.ProcessesUnder(env["DATA_DIR"] + "/workspaces"))
	}
	return count
}

// answer is what a request was answered.
type answer struct {
	status int
	body   object
	text   []byte
}

// try sends one request through the entry. ok is false where no answer came that says what
// became of it.
func (w *world) try(method, path string, body any) (a answer, ok bool) {
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
	req.Header = w.header()
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

// header lets a request in.
func (w *world) header() http.Header {
	header := http.Header{}
	if w.key != "" {
		header.Set("Authorization", "Bearer "+w.key)
	}
	return header
}

// patience is how long something is tried while things go wrong.
const patience = 3 * time.Minute

// ask repeats a request until it is answered.
func (w *world) ask(method, path string, body any) answer {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(100) {
		if a, ok := w.try(method, path, body); ok {
			return a
		}
	}
	w.t.Errorf("%s: %s %s was never answered", w.topology.name, method, path)
	return answer{}
}

// list asks for what is an array under a name.
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

// choice is a number below n that depends on nothing but the seed and the words: the same
// in every run with that seed, whatever happens when.
func (w *world) choice(n int, words ...any) int {
	h := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprint(w.settings.seed, words)) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return int((h ^ h>>29) % uint64(n))
}

// faultLog is what went wrong, and when.
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

// between are those of a time.
func (f *faultLog) between(begin, end time.Time) []note {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.list), func(n note) bool { return n.Time.Before(begin) || n.Time.After(end) })
}
