// Package review takes a code change from Claude to its repositories:
//
//	Claude works ──▶ capture ──▶ verify ──▶ ask ──▶ publish ──▶ received
//	      ▲                                  │
//	      └───────────── steer ──────────────┘
//
// A Change is one job's change during one turn. Prepare makes the repositories ready for
// Claude. After Claude has submitted, the rest needs none of Claude's processes and is
// called a Step. There are two:
//
//   - Submission captures the change, runs the verifiers, and asks for review; if the
//     change needs no review, it publishes immediately.
//   - Publication publishes what a person has approved, in its own turn.
//
// A Step can be repeated from its beginning, however far it got: each part detects what is
// already done. Nothing is kept in memory; Next determines from the record which step a job
// is at, so a server that starts on any machine can continue it. What was approved is a git
// tree: if that is not available, nothing is published.
//
// A Step returns the cause of its context if that has ended, and an *Error for anything
// that belongs in the job's record.
package review
