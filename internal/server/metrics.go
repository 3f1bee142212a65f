package server

import (
	"time"

	"golang.org/x/sys/unix"

	"ringback/internal/server/metrics"
	"ringback/internal/store"
	"ringback/internal/turn/runner"
	"ringback/internal/web/guard"
)

func (n *node) newMetrics() *metrics.Metrics {
	connections := func(number func(guard.Stats) int) func() int {
		return func() int { return number(n.connections.Stats()) }
	}
	return metrics.New(
		metrics.Node{
			Version: n.opts.Version, Format: store.Format, Heartbeat: n.heartbeat,
			ClockOffset: func() time.Duration { return n.storeFitness().ClockOffset },
			FreeSpace: func() (metrics.Space, error) {
				return readDisk(&n.disk, "space", func() (metrics.Space, error) { return freeSpace(n.opts.Config.DataDir) })
			},
		},
		metrics.Reads{
			Stats: n.store.Checkpoints.Counts, Limits: n.store.Limits.List,
			Notices: n.store.Tasks.NoticeCounts, Oldest: n.store.Queue.Oldest,
		},
		metrics.Gauge("ringback_websocket_clients", "WebSocket connections of this node.", n.hub.Clients),
		metrics.Gauge("ringback_workers", "Maximum number of concurrent turns of this node.", n.of((*runner.Runner).Workers)),
		metrics.Gauge("ringback_workers_busy", "Workers of this node that are running a turn.", n.of((*runner.Runner).Busy)),
		metrics.Gauge("ringback_running_turns", "CLI processes of this node.", n.of((*runner.Runner).Running)),
		metrics.Gauge("ringback_turns_blocked", "1 while this node cannot start turns, such as with a full disk; /readyz has the reason.",
			n.of(blocked)),
		metrics.Counter("ringback_turns_not_started_total", "Turns that this node failed to start.", n.of((*runner.Runner).NotStarted)),
		metrics.Counter("ringback_turns_stalled_total", "Turns that this node ended because they stalled.",
			n.of((*runner.Runner).Stalled)),
		metrics.Counter("ringback_store_errors_total", "Calls of the store that failed on this node because the store was unavailable.",
			func() int { return int(n.store.Errors()) }),
		metrics.Gauge("ringback_connections", "Open connections of this node, WebSockets among them.",
			connections(func(s guard.Stats) int { return s.Open })),
		metrics.Gauge("ringback_connections_limit", "Maximum number of connections of this node.",
			connections(func(s guard.Stats) int { return s.Limit })),
		metrics.Counter("ringback_connections_shed_total", "Connections without a request that were closed to make room for others.",
			connections(func(s guard.Stats) int { return s.Shed })),
		metrics.Counter("ringback_calls_refused_total", "API calls rejected with 503 because of too many concurrent calls.",
			connections(func(s guard.Stats) int { return s.Refused })),
	)
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
	return metrics.Space{Free: s.Bavail * size, Total: s.Blocks * size, FreeFiles: s.Ffree, Files: s.Files}, err
}
