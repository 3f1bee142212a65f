// Package action runs what the server does for Claude: the command or webhook of an
// action of the job's kind, see "Actions: confirm before execute" in docs/people.md.
//
// Whether it may run is not decided here. Before this package sees a run, one atomic
// step of the store has noted it and used up the approval. That is what makes an
// action run once: a server that dies before it began runs nothing, and one that dies
// afterwards leaves a run whose lease runs out, which is booked as unknown and never
// repeated.
//
// Start runs an action apart from the call that asked for it, so that its outcome is
// booked also where nobody waits any more; Await waits for it. A run gives a sign of
// life each second, ends with its job, and is unknown where the server stops.
// CheckSetup finds what the actions of a kind lack on this machine.
package action
