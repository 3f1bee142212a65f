// Package lifecycle contains the rules for jobs: what may happen to a job, and what follows from
// it, for every caller.
//
// A command is a method of Service: Create, StartTurn, Accept, Ask, Answer, Cancel, … Each declares
// the data that it needs (Query). A method of State makes the decision. It knows no Redis, no clock
// but State.Now and no goroutine: it changes the loaded records, adds effects, or refuses with an
// error or an Outcome that contains the reason. run loads, decides and commits, and decides again
// if something else was committed in between. docs/architecture.md explains why nothing is lost.
//
// To find a rule, look for the command: turn.go (turns start and end, nodes are lost), result.go
// (results, batches, failures), outcome.go (the results of callbacks), action.go (runs of actions,
// use of approvals), ask.go and answer.go (checkpoints), chat.go (messages), steer.go, end.go
// (cancel, retry), due.go (expired clocks), new.go (new jobs). Shared code is in move.go (the state
// machine, clocks, the next turn), finish.go (the end of a job, and of a process), message.go (the
// chat and its tool calls) and checkpoint.go.
//
// Every job begins in new.go. Create creates one that a caller requests. Follow creates one that
// continues the conversation of a job that has ended, because its user has written since. Interpret
// creates one that interprets a person's reply; only the server requests it. All three take a job's
// settings from its kind through one function, newJobOf, so that they cannot differ.
package lifecycle
