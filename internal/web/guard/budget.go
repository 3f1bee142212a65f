package guard

import (
	"math"

	"golang.org/x/sys/unix"
)

// Budget is a node's division of its file descriptors.
type Budget struct {
	// Connections is the maximum number of open connections at all listeners, including
	// WebSockets.
	Connections int
	// WebSockets is the maximum number of open WebSockets, of all users.
	WebSockets int
	// Calls is the maximum number of API calls in progress. The connections beyond
	// WebSockets and Calls are reserved for callbacks and health.
	Calls int
	// Callbacks is the number of connections of a callback listener that wait for a request and are
	// never closed for an API connection.
	Callbacks int
	// Door is the maximum number of open connections at each of the doors of a job, so that a job
	// cannot keep all of Connections.
	Door int
}

const (
	// ownDescriptors are for the store, the log and the like; turnDescriptors for each
	// turn's files, pipes and git.
	ownDescriptors, turnDescriptors = 64, 16
	// mostReserved is the maximum number of connections reserved for callbacks and health.
	mostReserved = 1024
	// leastConnections is the minimum number of connections that a node needs.
	leastConnections = 32
	// leastAtDoor and mostAtDoor bound the connections at one door.
	leastAtDoor, mostAtDoor = 4, 64
)

// DivideDescriptors divides the descriptors of a node with the given number of workers.
// webSockets is the maximum number of WebSockets; 0 for as many as possible.
func DivideDescriptors(descriptors, workers, webSockets int) Budget {
	all := max(leastConnections, descriptors-ownDescriptors-turnDescriptors*workers)
	reserved := min(all/4, mostReserved)
	others := all - reserved
	b := Budget{Connections: all, WebSockets: others * 3 / 4, Callbacks: reserved}
	if webSockets > 0 {
		b.WebSockets = min(b.WebSockets, webSockets)
	}
	b.Calls = others - others*3/4
	b.Door = min(max(leastAtDoor, all/(16*max(1, workers))), mostAtDoor)
	return b
}

// Descriptors returns the maximum number of open descriptors of this process
// (RLIMIT_NOFILE). The Go runtime has already raised the soft limit to the hard limit.
func Descriptors() int {
	const unknown, most = 1024, 1 << 20
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return unknown
	}
	return int(min(limit.Cur, uint64(most), math.MaxInt32))
}
