package job

import "slices"

// Transition is one possible move of a job: from one state to another, or from one phase to another
// within a state.
type Transition struct {
	From      State // The previous state; "" for a job that does not exist yet.
	FromPhase Phase // The previous phase of a move within a state. It is ignored for other moves.
	To        State
	Phases    []Phase   // The phases in which To may begin.
	Event     EventType // The event that reports the move; "" if none does.
	Why       string
}

// Within reports whether the state stays and only the phase changes.
func (t Transition) Within() bool { return t.From == t.To }

// Transitions is the state machine: any move that is not listed is impossible. The scripts of
// internal/store reject it, and docs/architecture.md draws the machine.
var Transitions = [...]Transition{
	{"", "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "created"},
	{Pending, "", Running, []Phase{Preparing, AtWork}, EventRunning, "a worker takes it"},
	{Pending, "", Received, []Phase{NoPhase}, EventReceived, "the previous turn delivers late"},
	{Pending, "", Cancelled, []Phase{NoPhase}, EventCancelled, "cancelled"},
	{Pending, "", Expired, []Phase{NoPhase}, EventError, "no worker in time"},
	{Pending, "", Failed, []Phase{NoPhase}, EventError, "the previous turn gives up late"},

	{Running, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "another attempt, or a queued steer"},
	{Running, "", Pending, []Phase{WaitingForLimit}, EventPending, "Claude is at a limit, or a budget of the day is used up"},
	{Running, "", AwaitingApproval, []Phase{Held, NoPhase}, EventCheckpoint, "a decision is asked for"},
	{Running, "", AwaitingInput, []Phase{Held, NoPhase}, EventCheckpoint, "a question is asked"},
	{Running, "", Received, []Phase{NoPhase}, EventReceived, "the result is accepted, a change published"},
	{Running, "", Cancelled, []Phase{NoPhase}, EventCancelled, "cancelled"},
	{Running, "", Expired, []Phase{NoPhase}, EventError, "no callback in time"},
	{Running, "", Failed, []Phase{NoPhase}, EventError, "given up, or no attempts left"},

	{AwaitingApproval, "", Running, []Phase{AtWork}, EventRunning, "answered while the call waits"},
	{AwaitingApproval, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "answered"},
	{AwaitingApproval, "", Rejected, []Phase{NoPhase}, EventRejected, "the change is rejected"},
	{AwaitingApproval, "", Failed, []Phase{NoPhase}, EventError, "its budget is used up and not raised"},
	{AwaitingApproval, "", Cancelled, []Phase{NoPhase}, EventCancelled, "cancelled"},
	{AwaitingApproval, "", Expired, []Phase{NoPhase}, EventError, "no answer in time"},

	{AwaitingInput, "", Running, []Phase{AtWork}, EventRunning, "answered while the call waits"},
	{AwaitingInput, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "answered"},
	{AwaitingInput, "", Cancelled, []Phase{NoPhase}, EventCancelled, "cancelled"},
	{AwaitingInput, "", Expired, []Phase{NoPhase}, EventError, "no answer in time"},

	{Cancelled, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "retried"},
	{Expired, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "retried"},
	{Failed, "", Pending, []Phase{Queued, WaitingForExit}, EventPending, "retried"},

	{Pending, Queued, Pending, []Phase{WaitingForLimit}, EventPending, "its user has reached the limit of running turns"},
	{Pending, WaitingForLimit, Pending, []Phase{Queued}, EventPending, "a turn of its user has ended, or the limit, or the day"},
	{Pending, WaitingForExit, Pending, []Phase{Queued}, EventPending, "the process is gone"},

	{Running, Preparing, Running, []Phase{AtWork}, EventRunning, "Claude begins"},
	{Running, Preparing, Running, []Phase{Publishing}, EventRunning, "there is an approved change"},
	{Running, Preparing, Running, []Phase{Capturing}, EventRunning, "Claude has ended, its beginning could not be stored"},
	{Running, AtWork, Running, []Phase{Capturing}, EventRunning, "Claude has submitted a change"},
	{Running, Capturing, Running, []Phase{Verifying}, EventRunning, "the change is read"},
	{Running, Capturing, Running, []Phase{Publishing}, EventRunning, "no review is asked for"},
	{Running, Verifying, Running, []Phase{Publishing}, EventRunning, "no review is asked for"},
	{Running, Verifying, Running, []Phase{Capturing}, EventRunning, "again, after its server was lost"},
	{Running, Publishing, Running, []Phase{Capturing}, EventRunning, "again, after its server was lost"},

	// No event: the checkpoint's own record reports it, and no new question is asked.
	{AwaitingApproval, Held, AwaitingApproval, []Phase{NoPhase}, "", "the call waits no longer"},
	{AwaitingInput, Held, AwaitingInput, []Phase{NoPhase}, "", "the call waits no longer"},
}

// CanBecome reports whether next may follow s.
func (s State) CanBecome(next State) bool {
	return slices.ContainsFunc(Transitions[:], func(t Transition) bool {
		return !t.Within() && t.From == s && t.To == next
	})
}

// FindTransition returns the transition from one state and phase to another. ok is false if there
// is none.
func FindTransition(from State, fromPhase Phase, to State, phase Phase) (t Transition, ok bool) {
	i := slices.IndexFunc(Transitions[:], func(t Transition) bool {
		return t.From == from && t.To == to && slices.Contains(t.Phases, phase) && (!t.Within() || t.FromPhase == fromPhase)
	})
	if i < 0 {
		return Transition{}, false
	}
	return Transitions[i], true
}
