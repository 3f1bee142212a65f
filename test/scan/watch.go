package scan

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringback/internal/sandbox/process"
)

// Processes are scanned every watchInterval, which is often enough to see most that run a
// program; if a scan takes long, it may take up one part in watchShare of the time.
const (
	watchInterval = 10 * time.Millisecond
	watchShare    = 20
)

// watcher scans the command lines and environments of servers' descendants (Linux).
type watcher struct {
	mu      sync.Mutex
	running bool
	// servers are the servers, by pid, that have their descendants scanned.
	servers map[int]*watchedServer
	// known contains all current processes; nil for those that do not descend from a
	// server.
	known map[int]*child
	ticks int
}

type watchedServer struct {
	pid int
	// cmdlines are its own command lines as they were read: its pid may have belonged to
	// another process before, or may later.
	cmdlines [][]byte
	leaks    []string
}

// runs reports whether a command line is, or may be, the server's own.
func (v *watchedServer) runs(cmdline []byte) bool {
	known := func(now []byte) bool {
		return slices.ContainsFunc(v.cmdlines, func(c []byte) bool { return bytes.Equal(c, now) })
	}
	if now := readProc(v.pid, "cmdline"); len(now) > 0 && !known(now) {
		v.cmdlines = append(v.cmdlines, now)
	}
	return len(v.cmdlines) == 0 || known(cmdline)
}

// child is a process that descends from a server.
type child struct {
	server *watchedServer
	// parent is the descendant that started it; nil if the server itself did.
	parent  *child
	who     string
	cmdline []byte
	since   time.Time
}

// Watch starts scanning the descendants of a server. found returns the secrets in their
// command lines and environments so far that are in forbidden places; stop ends it.
// Processes that live only a few milliseconds may be missed.
func (s *Scan) Watch(pid int) (found func() []string, stop func()) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		w.servers, w.known = map[int]*watchedServer{}, map[int]*child{}
	}
	server := &watchedServer{pid: pid}
	w.servers[pid] = server
	if !w.running {
		w.running = true
		go s.watchAll()
	}
	found = func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.Clone(server.leaks)
	}
	stop = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.servers, pid)
	}
	return found, stop
}

// watchAll scans all descendants repeatedly while a server is watched.
func (s *Scan) watchAll() {
	w := &s.watch
	for took := time.Duration(0); ; time.Sleep(max(watchInterval, watchShare*took)) {
		begin := time.Now()
		w.mu.Lock()
		if len(w.servers) == 0 {
			w.running = false
			clear(w.known)
			w.mu.Unlock()
			return
		}
		s.watchOnce()
		w.mu.Unlock()
		took = time.Since(begin)
	}
}

func (s *Scan) watchOnce() {
	w := &s.watch
	w.ticks++
	alive := map[int]bool{}
	for _, pid := range Processes() {
		alive[pid] = true
		c, seen := w.known[pid]
		if !seen {
			c = w.adopt(pid)
			w.known[pid] = c
		}
		if c != nil {
			s.lookAt(pid, c)
		}
	}
	for pid := range w.known {
		if !alive[pid] {
			delete(w.known, pid)
		}
	}
}

// adopt determines whether a new process descends from a server; nil if not.
func (w *watcher) adopt(pid int) *child {
	parent := parentOf(pid)
	server := w.servers[parent]
	between := w.known[parent]
	if server == nil && between != nil {
		server = between.server
	}
	if server == nil || w.servers[pid] != nil {
		return nil
	}
	return &child{server: server, parent: between, since: time.Now()}
}

// lookAt scans a descendant if it runs a program that has not been scanned yet. For
// long-running ones, this is checked only now and then.
func (s *Scan) lookAt(pid int, c *child) {
	const young, seldom = time.Second, 20
	if time.Since(c.since) > young && (s.watch.ticks+pid)%seldom != 0 {
		return
	}
	cmdline := readProc(pid, "cmdline")
	environ := readProc(pid, "environ")
	// A forked process has its server's command line until it executes its own program.
	if len(cmdline) == 0 || bytes.Equal(cmdline, c.cmdline) || c.server.runs(cmdline) {
		return
	}
	// A process that is just executing it shows a mixture of both.
	if !bytes.Equal(cmdline, readProc(pid, "cmdline")) || !bytes.Equal(environ, readProc(pid, "environ")) {
		return
	}
	c.cmdline = cmdline
	c.who = owner(cmdline, environ)
	if c.parent != nil && c.parent.who == "git" { // a push has no marker, nor do its child processes
		c.who = "git"
	}
	who := c.who
	c.server.leaks = append(c.server.leaks, s.Look(Place{Argv, who}, cmdline)...)
	for _, entry := range variables(environ) {
		name, _, _ := bytes.Cut(entry, []byte("="))
		c.server.leaks = append(c.server.leaks, s.Look(Place{Environ, who + " " + string(name)}, entry)...)
	}
}

// variables returns the entries of an environment. A shell that is parsing its own may have
// replaced an equals sign with a zero for a moment.
func variables(environ []byte) [][]byte {
	var found [][]byte
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if last := len(found) - 1; last >= 0 && !bytes.ContainsRune(found[last], '=') {
			found[last] = slices.Concat(found[last], []byte("="), entry)
			continue
		}
		found = append(found, bytes.Clone(entry))
	}
	return found
}

// owner returns what a process runs for: turn (the CLI of a turn or trial start, and its descendants),
// git, step (a verifier or finalizer of a change), action, or the name of its program.
func owner(cmdline, environ []byte) string {
	program, _, _ := bytes.Cut(cmdline, []byte{0})
	name := filepath.Base(string(program))
	_, rest, marked := bytes.Cut(append([]byte{0}, environ...), []byte("\x00"+process.MarkerVar+"="))
	text, _, _ := bytes.Cut(rest, []byte{0})
	marker := string(text)
	switch last := marker[strings.LastIndexByte(marker, '/')+1:]; {
	case !marked:
		return name
	case strings.HasPrefix(marker, "req_"), strings.HasPrefix(marker, "trial_"):
		return "turn"
	case last == "git":
		return "git"
	case strings.HasPrefix(last, "req_"):
		return "step"
	}
	return "action"
}

// Processes returns the pids of all visible processes, in ascending order.
func Processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids) // parents first
	return pids
}

func parentOf(pid int) int {
	stat := readProc(pid, "stat")
	// The name in parentheses may contain anything; fields are counted after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// readProc reads a file of a process in /proc; nothing if it is not accessible.
func readProc(pid int, file string) []byte {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	return text
}
