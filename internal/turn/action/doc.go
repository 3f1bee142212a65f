// Package action runs what the server does for Claude: the command or webhook of an action
// of the job's kind, see "Actions: confirm before execute" in docs/permissions.md.
//
// It does not decide whether an action may run. Before this package gets a run, one atomic
// step of the store has recorded it and used up the approval. That is why an action runs at
// most once: if the server dies before the action started, nothing runs; if it dies later,
// the run's lease expires, and the run is recorded as unknown and never repeated.
//
// Start runs an action independently of the call that asked for it, so that its outcome is
// recorded even if no call waits for it any more; Await waits for it. A run renews its
// lease each second, ends with its job, and becomes unknown if the server stops. CheckSetup
// reports what the actions of a kind are missing on this machine.
package action
