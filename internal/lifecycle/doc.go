// Package lifecycle holds the rules of jobs: what may happen to one, and what follows
// from it, whoever asks.
//
// A command is a method of Service: Create, StartTurn, Accept, Ask, Answer, Cancel, …
// Each says what it has to look at (Query), and is decided by a function of State that
// knows no Redis, no clock but State.Now and no goroutine: it changes the records that
// were loaded, adds effects, or refuses with an error or an Outcome that says why. run
// loads, decides and commits, and decides anew where something else was committed
// meanwhile; docs/architecture.md says why nothing is lost in between.
//
// To find a rule, look for the command: turn.go (turns start and end, nodes are lost),
// result.go (results, batches, failures), outcome.go (the results of callbacks), action.go
// (runs of actions, use of approvals), ask.go and answer.go (checkpoints), chat.go
// (messages), steer.go, end.go (cancel, retry), due.go (clocks that have run down), new.go
// (new jobs). What they have in common is in move.go (the state machine, clocks, the next
// turn), finish.go (the end of a job, and of a process), message.go (the chat and its tool
// calls), checkpoint.go.
//
// Every job begins in new.go. Create makes one of what a caller asks for; Follow makes
// one that goes on with the conversation of a job that has ended, because its user
// has written since; Interpret makes one that says what a person's reply means,
// which only the server asks for. All three take what a kind says of its jobs from
// one function, newJobOf, so that they cannot differ in it.
package lifecycle
