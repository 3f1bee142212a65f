// Package runner runs the turns of one node. A turn is one process of Claude's, or a
// step of a code change for which none is needed (internal/review).
//
// A process depends on nothing of the server: its output goes to files, its results
// arrive over HTTP, on whatever node. What the runner knows of it is telemetry. So a
// server may stop or die at any moment: the process runs on, the next start on this
// data directory adopts it (reconcileTurns); the turns of a node that stays away are queued
// again, for any other (keepAlive).
//
// The store alone says who has a turn. In memory there is an ownedTurn for each that
// this start knows of, with a context whose cause says why it ends:
//
//   - errDelivered: Claude has done its part; its process may end by itself
//   - errJobEnded: the job needs the turn no more; its process is ended at once
//   - errSuperseded, errBegunAnew: the turn is not this one's any more; its process is
//     killed, and nothing is booked
//   - errShutdown: the server stops; the process runs on
//
// Events tell of the first two (Event); since an event may be missed, each heartbeat
// and each new connection compares all turns with the store (check). A turn is over
// when its end is booked (endTurn), which is tried until the store has taken it.
//
// Run starts the loops that divide the work: dispatch, reconcile, keepAlive,
// fireDeadlines and the sweeper. docs/architecture.md tells of each.
package runner
