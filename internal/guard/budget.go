package guard

import (
	"math"

	"golang.org/x/sys/unix"
)

// Budget is how a node divides the descriptors that the system gives it.
type Budget struct {
	// Connections may be open at once, at all listeners, WebSockets among them.
	Connections int
	// WebSockets may be open at once, of all users.
	WebSockets int
	// Calls of the API may be worked on at once. What Connections leaves beyond
	// WebSockets and Calls is for callbacks and health.
	Calls int
}

const (
	// ownDescriptors are for the store, the log and the like; turnDescriptors for each
	// turn's files, pipes and git.
	ownDescriptors, turnDescriptors = 64, 16
	// mostReserved is the most connections that are kept for callbacks and health.
	mostReserved = 1024
	// leastConnections is what a node cannot do without.
	leastConnections = 32
)

// DivideDescriptors divides descriptors on a node with so many workers. webSockets is how
// many there may be at most; 0 for as many as can be.
func DivideDescriptors(descriptors, workers, webSockets int) Budget {
	all := max(leastConnections, descriptors-ownDescriptors-turnDescriptors*workers)
	others := all - min(all/4, mostReserved)
	b := Budget{Connections: all, WebSockets: others * 3 / 4}
	if webSockets > 0 {
		b.WebSockets = min(b.WebSockets, webSockets)
	}
	b.Calls = others - others*3/4
	return b
}

// Descriptors is how many descriptors this process may have (RLIMIT_NOFILE). The Go
// runtime has raised the soft limit to the hard one by then.
func Descriptors() int {
	const unknown, most = 1024, 1 << 20
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return unknown
	}
	return int(min(limit.Cur, uint64(most), math.MaxInt32))
}
