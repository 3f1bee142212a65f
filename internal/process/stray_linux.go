package process

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// EndStrays ends, until ctx ends, what outlives the program that it belongs to. A
// process that loses its parent becomes our child, see Protect, whatever session it has
// moved to and whatever it has done to its environment. It belongs to the program whose
// session it is in, or whose marker it carries; one that hides both may belong to any
// program that ran when it came to us, and goes with the last of these.
func EndStrays(ctx context.Context, log *slog.Logger) {
	s := strays{log: log, known: map[stray]*claim{}}
	s.session, _ = unix.Getsid(0)
	ticker := time.NewTicker(strayInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			for s.look() > 0 { // what one that was ended has left comes to us in turn
				time.Sleep(10 * time.Millisecond)
			}
			return
		case <-ticker.C:
			s.look()
		}
	}
}

// strayInterval is how often strays are looked for, and so how long one may outlive its
// program.
const strayInterval = 500 * time.Millisecond

// unreaped is how long a child of ours may stay a zombie before it is taken for one that
// came to us: what we start is waited for.
const unreaped = time.Minute

type strays struct {
	log *slog.Logger
	// session is ours: what the server starts without a session of its own.
	session int
	known   map[stray]*claim
}

// stray tells a process from a later one with its pid.
type stray struct {
	pid     int
	started string
}

// claim is what a stray may belong to.
type claim struct {
	since time.Time
	// programs are those that ran when it came.
	programs map[int]string
}

// look ends the strays that belong to nothing any more, and returns how many there were.
func (s *strays) look() (ended int) {
	var found []child
	programs := running.now(func() { found = childrenOf(os.Getpid()) })
	here := map[stray]*claim{}
	for _, c := range found {
		if _, ours := programs[c.pid]; ours {
			continue
		}
		id := stray{c.pid, c.started}
		if here[id] = s.known[id]; here[id] == nil {
			here[id] = &claim{time.Now(), programs}
		}
		switch {
		case c.zombie && (c.session != s.session || time.Since(here[id].since) > unreaped):
			_, _ = unix.Wait4(c.pid, nil, unix.WNOHANG, nil)
		case c.zombie || c.session == s.session || here[id].holds(c, programs):
		default:
			s.log.Warn("ended a process that outlived what it belongs to", "pid", c.pid)
			_ = unix.Kill(c.pid, unix.SIGKILL) // it is our child: until we wait, the pid is its
			ended++
		}
	}
	s.known = here
	return ended
}

// holds reports whether a program still runs that a stray may belong to.
func (c *claim) holds(s child, programs map[int]string) bool {
	if _, runs := programs[s.session]; runs {
		return true
	}
	if m := markerOf(s.pid); m != "" {
		for _, marker := range programs {
			if marker == m {
				return true
			}
		}
		return false
	}
	for pid, marker := range c.programs {
		if now, runs := programs[pid]; runs && now == marker {
			return true
		}
	}
	return false
}

type child struct {
	pid int
	stat
}

// childrenOf lists the children of a process.
func childrenOf(parent int) (found []child) {
	for _, pid := range childPIDs(parent) {
		if s, ok := statOf(pid); ok && s.parent == parent {
			found = append(found, child{pid: pid, stat: s})
		}
	}
	return found
}

// childPIDs are candidates for children: the system's list, where it keeps one, else all
// processes.
func childPIDs(parent int) (pids []int) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(parent) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has just ended
		for field := range bytes.FieldsSeq(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if len(lists) > 0 {
		return pids
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
