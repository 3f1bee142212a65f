package process

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// EndStrays ends, until ctx ends, processes that outlive the program that they belong
// to. A process that loses its parent becomes our child, see Protect, even if it has
// changed its session or its environment. It belongs to the program that has its
// session or its marker. A process that hides both may belong to any program that ran
// when it became our child, and ends with the last of these.
func EndStrays(ctx context.Context, log *slog.Logger) {
	s := strays{log: log, known: map[instance]*claim{}}
	s.session, _ = unix.Getsid(0)
	ticker := time.NewTicker(strayInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			for s.end() > 0 { // ended strays may leave children, which become ours in turn
				time.Sleep(10 * time.Millisecond)
			}
			return
		case <-ticker.C:
			s.end()
		}
	}
}

// strayInterval is the interval between searches for strays, and so the longest time
// that one outlives its program.
const strayInterval = 500 * time.Millisecond

// unreaped is the time that a child of ours may remain a zombie before it counts as
// adopted: programs that we start are waited for.
const unreaped = time.Minute

type strays struct {
	log *slog.Logger
	// session is ours: that of programs that the server starts without a session of their
	// own.
	session int
	known   map[instance]*claim
}

// claim holds the programs that a stray may belong to.
type claim struct {
	since time.Time
	// programs are those that ran when it became our child.
	programs map[int]string
}

// end ends the strays that no longer belong to a program, and returns their number.
func (s *strays) end() int {
	var ended []int
	var found []child
	programs := running.snapshot(func() { found = childrenOf(os.Getpid()) })
	here := map[instance]*claim{}
	for _, c := range found {
		if _, ours := programs[c.pid]; ours {
			continue
		}
		id := instance{c.pid, c.started}
		if here[id] = s.known[id]; here[id] == nil {
			here[id] = &claim{time.Now(), programs}
		}
		switch {
		case c.zombie && (c.session != s.session || time.Since(here[id].since) > unreaped):
			_, _ = unix.Wait4(c.pid, nil, unix.WNOHANG, nil)
		case c.zombie || c.session == s.session || here[id].holds(c, programs):
		default:
			_ = unix.Kill(c.pid, unix.SIGKILL) // it is our child: its pid cannot be reused until we wait for it
			ended = append(ended, c.pid)
		}
	}
	s.known = here
	if len(ended) > 0 {
		s.log.Warn("killed leftover processes", "processes", len(ended), "pids", firstOf(ended))
	}
	return len(ended)
}

// holds reports whether a program that a stray may belong to still runs.
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

// childrenOf returns the children of a process.
func childrenOf(parent int) (found []child) {
	for _, pid := range childPIDs(parent) {
		if s, ok := statOf(pid); ok && s.parent == parent {
			found = append(found, child{pid: pid, stat: s})
		}
	}
	return found
}

// childPIDs returns candidates for children: the system's list if it has one, else all
// processes.
func childPIDs(parent int) (pids []int) {
	listed := false
	threads := "/proc/" + strconv.Itoa(parent) + "/task/"
	for _, thread := range idsIn(threads) {
		text, err := os.ReadFile(threads + strconv.Itoa(thread) + "/children")
		listed = listed || err == nil // it fails for a thread that has just ended
		for field := range bytes.FieldsSeq(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if !listed {
		return allPIDs()
	}
	return pids
}
