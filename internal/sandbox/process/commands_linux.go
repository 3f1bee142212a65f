package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// EndCommands ends the processes that the program has started in other sessions, as the CLI does
// with each command: SIGTERM, and SIGKILL after grace. The program itself continues. It returns the
// number of processes found.
func (p *Process) EndCommands(grace time.Duration) int {
	found := p.commands()
	// Stop them all until each has its SIGTERM: a shell would start its next command if the current
	// one ended first.
	for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGTERM, unix.SIGCONT} {
		for _, c := range found {
			signal(c.PID, sig, c.lives)
		}
	}
	deadline := time.Now().Add(grace)
	for len(p.commands()) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	// Kill what ignores SIGTERM or was started since. A process may have forked between the
	// search and its end, so the search is repeated until it finds nothing.
	for range killRounds {
		left := p.commands()
		if len(left) == 0 {
			break
		}
		for _, c := range left {
			signal(c.PID, unix.SIGKILL, c.lives)
		}
		time.Sleep(10 * time.Millisecond) // on a busy machine, what was killed lives on for a moment
	}
	return len(found)
}

// killRounds limits how often EndCommands searches again: the program may start its next command.
const killRounds = 5

// commands returns the descendants of the program, and processes with its marker, that are in
// another session.
func (p *Process) commands() (found []instance) {
	own := map[int]bool{}
	for _, pid := range []int{p.PID, p.leader.PID} {
		if s, ok := statOf(pid); ok {
			own[s.session] = true
		}
	}
	if len(own) == 0 {
		return nil // it has ended
	}
	stats := map[int]stat{}
	for _, pid := range allPIDs() {
		if s, ok := statOf(pid); ok {
			stats[pid] = s
		}
	}
	below := map[int]bool{p.PID: true, p.leader.PID: p.leader.PID != 0}
	for _, pid := range Marked(func(m string) bool { return m == p.Marker }) {
		below[pid] = true
	}
	for pid, s := range stats {
		if !s.zombie && !own[s.session] && descends(pid, below, stats) {
			found = append(found, instance{pid, s.started})
		}
	}
	return found
}

// descends reports whether a process is in below or a descendant of one that is.
func descends(pid int, below map[int]bool, stats map[int]stat) bool {
	for range len(stats) {
		if below[pid] {
			return true
		}
		s, ok := stats[pid]
		if !ok || pid <= 1 {
			return false
		}
		pid = s.parent
	}
	return false
}
