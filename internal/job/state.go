package job

// State is the state of a job.
type State string

// The states. Those after AwaitingInput are terminal.
const (
	Pending          State = "pending"           // waits for a worker
	Running          State = "running"           // a turn is running
	AwaitingApproval State = "awaiting_approval" // parked at a review, confirmation or tool_approval
	AwaitingInput    State = "awaiting_input"    // parked at a question
	Received         State = "received"          // the result was accepted
	Cancelled        State = "cancelled"         // by the user or the back end
	Rejected         State = "rejected"          // a person rejected the change at review
	Expired          State = "expired"           // a deadline passed
	Failed           State = "failed"            // given up, or no attempts left
)

// States lists every state in the order of a job's life.
var States = [...]State{Pending, Running, AwaitingApproval, AwaitingInput, Received, Cancelled, Rejected, Expired, Failed}

// Terminal reports whether s is final, unless a person asks for a retry.
func (s State) Terminal() bool {
	return s == Received || s == Cancelled || s == Rejected || s == Expired || s == Failed
}

// Retryable reports whether a job in s has ended and can be retried.
func (s State) Retryable() bool { return s.Terminal() && s.CanBecome(Pending) }

// Parked reports whether a job in s waits for a person.
func (s State) Parked() bool { return s == AwaitingApproval || s == AwaitingInput }
