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

// Phase describes what happens within a state.
type Phase string

// The phases. A job that has ended has none, and neither has a job that waits for a person while no
// call of Claude's waits.
const (
	NoPhase Phase = ""
	Queued  Phase = "queued" // waiting for a worker. If `phaseUntil` is set, the job does not start before then.
	// WaitingForLimit is waiting for another job of the same user to end its turn. If
	// `phaseUntil` is set, it is waiting for the end of a rate limit of Claude's or of a daily
	// budget.
	WaitingForLimit Phase = "waiting_for_limit"
	WaitingForExit  Phase = "waiting_for_exit" // waiting until the process of the previous turn has exited
	Preparing       Phase = "preparing"        // preparing the workspace: cloning, or restoring a change
	AtWork          Phase = "claude"           // Claude's own work, or that of a person who plays Claude
	Held            Phase = "held"             // waiting for a person's reply while Claude's call waits for it
	Capturing       Phase = "capturing"        // reading the change that a turn made
	Verifying       Phase = "verifying"        // running the verifiers on the change
	Publishing      Phase = "publishing"       // pushing an approved change and running the finalizers
)

// PhaseRow is one row of the table of phases.
type PhaseRow struct {
	Phase  Phase
	States []State // the states that can have the phase
	// Meaning completes "the job …", and Words is the text in lists.
	Meaning, Words string
}

// Phases lists every phase in the order of a job's life.
var Phases = [...]PhaseRow{
	{Queued, []State{Pending}, "waits for a worker; with `phaseUntil`, for the next attempt, which is not made before then", "waiting for a worker"},
	{WaitingForLimit, []State{Pending}, "waits because its user has reached the limit of running turns; with `phaseUntil`, " +
		"because Claude is at a limit or a daily budget is used up, see `lastFailure`", "waiting for another job of the user"},
	{
		WaitingForExit,
		[]State{Pending},
		"waits until the process of the previous turn has exited",
		"waiting for the previous process to exit",
	},
	{Preparing, []State{Running}, "gets its workspace: repositories are cloned, or a change is restored", "preparing the workspace"},
	{AtWork, []State{Running}, "has Claude at work", "Claude is on it"},
	{Capturing, []State{Running}, "has its change read", "capturing the change"},
	{Verifying, []State{Running}, "has its change verified", "verifying"},
	{Publishing, []State{Running}, "has its change pushed, and the finalizers run", "publishing"},
	{
		Held,
		[]State{AwaitingApproval, AwaitingInput},
		"has asked a person while Claude's call still waits for the reply",
		"Claude waits for the reply",
	},
}

// Words returns a short description for people; "" for no phase, and for one of a newer server.
func (p Phase) Words() string {
	for _, row := range Phases {
		if row.Phase == p {
			return row.Words
		}
	}
	return ""
}
