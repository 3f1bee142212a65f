// Package runner runs the turns of one node. A turn is one process of Claude, or a step of
// a code change that needs no process (internal/turn/review).
//
// A process does not depend on the server: its output goes to files, and its results arrive
// over HTTP, at any node. The runner only reads telemetry from it. So a server may stop or
// die at any time: the process keeps running, and the next start on this data directory
// adopts it (reconcileTurns). The turns of a node that stays away are queued again, for any
// other node (keepAlive).
//
// Only the store determines which node owns a turn. In memory there is an ownedTurn for
// each turn that this start knows of, with a context. The cause of the context is the
// reason for the turn's end:
//
//   - errDelivered: Claude has delivered; its process may end by itself
//   - errJobEnded: the job no longer needs the turn; its process is terminated
//     immediately
//   - errSuperseded, errRestarted: the turn has another owner or was started again; its
//     process is killed, and nothing is booked
//   - errShutdown: the server stops; the process keeps running
//
// Events report the first two (Event). Because events may be missed, each heartbeat and
// each new connection compares all turns with the store (check). A turn is over when its
// end is booked (endTurn), which is retried until the store accepts it.
//
// Run starts the loops that divide the work: dispatch, reconcile, keepAlive, the
// clocks and the sweeper. docs/architecture.md describes each.
package runner
