package server

import (
	"time"

	"golang.org/x/sys/unix"

	"ringback/internal/server/metrics"
	"ringback/internal/store"
	"ringback/internal/turn/runner"
)

func (n *node) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Node{
		Version: n.opts.Version, Format: store.Format, Clients: n.hub.Clients, Connections: n.connections.Stats,
		Running: n.of((*runner.Runner).Running), Workers: n.of((*runner.Runner).Workers), Busy: n.of((*runner.Runner).Busy),
		Blocked: n.of(blocked), NotStarted: n.of((*runner.Runner).NotStarted), Stalled: n.of((*runner.Runner).Stalled),
		Heartbeat:   n.heartbeat,
		StoreErrors: func() int { return int(n.store.Errors()) },
		FreeSpace: func() (metrics.Space, error) {
			return readDisk(&n.disk, "space", func() (metrics.Space, error) { return freeSpace(n.opts.Config.DataDir) })
		},
		ClockOffset: n.fitness.clockOffset,
	}, metrics.Reads{Stats: n.store.Stats, Limits: n.store.Limits, Notices: n.store.NoticeCounts, Oldest: n.store.OldestQueued})
}

// of reads a number from the runner; it is 0 on a node that runs no turns.
func (n *node) of(read func(*runner.Runner) int) func() int {
	return func() int {
		if n.runner == nil {
			return 0
		}
		return read(n.runner)
	}
}

// blocked returns 1 while no turn can start.
func blocked(r *runner.Runner) int {
	if r.Problem() == nil {
		return 0
	}
	return 1
}

// heartbeat returns when this node's last heartbeat reached the store.
func (n *node) heartbeat() time.Time {
	if n.runner == nil {
		return time.Time{}
	}
	return n.runner.Heartbeat()
}

// freeSpace returns the space on a directory's file system, as this user has it.
func freeSpace(dir string) (metrics.Space, error) {
	var s unix.Statfs_t
	err := unix.Statfs(nearest(dir), &s)
	size := uint64(s.Bsize) //nolint:gosec,unconvert // its type is the system's, and it is positive
	return metrics.Space{Free: s.Bavail * size, Total: s.Blocks * size}, err
}
