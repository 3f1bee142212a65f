// Package review takes a code change from Claude to its repositories:
//
//	Claude works ──▶ capture ──▶ verify ──▶ ask ──▶ publish ──▶ received
//	      ▲                                  │
//	      └───────────── steer ──────────────┘
//
// A Change is one job's change during one turn. Prepare makes the repositories ready
// for Claude. Once Claude has submitted, nothing of what is left is Claude's, so none
// of its processes is needed: that is a Step. There are two:
//
//   - Submission reads the change, runs the verifiers, and asks for review; where
//     nobody is to be asked, it publishes at once.
//   - Publication publishes what a person has approved, in a turn of its own.
//
// A Step can be done again from its beginning, however far it got: each part finds
// what is there. Nothing is kept in memory; Next reads from the record which step a
// job is at, so any start of the server, on any machine, goes on with it. What was
// approved is a git tree: where that is not to be had, nothing is published.
//
// A Step returns the cause of its context where that has ended, and an *Error for
// anything that the job's record should tell.
package review
