package job

// Phase says what is going on within a state.
type Phase string

// The phases. A job that has ended has none, nor has one that waits for a person
// while no call of Claude does.
const (
	NoPhase Phase = ""
	// Queued is waiting for a worker; where Job.PhaseUntil is set, not before then.
	Queued Phase = "queued"
	// WaitingForLimit is waiting for another job of the same user to end its turn; where
	// Job.PhaseUntil is set, for the end of a limit of Claude's.
	WaitingForLimit Phase = "waiting_for_limit"
	// WaitingForExit is waiting for the process of the turn before to be gone.
	WaitingForExit Phase = "waiting_for_exit"
	// Preparing is making the workspace ready: cloning, or restoring a change.
	Preparing Phase = "preparing"
	// AtWork is Claude's own work, or a person's who plays Claude.
	AtWork Phase = "claude"
	// Held is a question to a person while the call of Claude that asks still waits.
	Held Phase = "held"
	// Capturing is reading what a turn has changed.
	Capturing Phase = "capturing"
	// Verifying is running the verifiers on it.
	Verifying Phase = "verifying"
	// Publishing is pushing an approved change and running the finalizers.
	Publishing Phase = "publishing"
)

// PhaseRow is one row of the table of phases.
type PhaseRow struct {
	Phase  Phase
	States []State // in which a job may be in it
	// Meaning completes "the job …", and Words are what lists say.
	Meaning, Words string
}

// Phases lists every phase in the order of a job's life.
var Phases = [...]PhaseRow{
	{Queued, []State{Pending}, "waits for a worker; with `phaseUntil`, for the next attempt, which is not made before then", "waiting for a worker"},
	{WaitingForLimit, []State{Pending}, "waits because its user has as many turns running as one user may have; with `phaseUntil`, because Claude is at a limit or a budget of the day is used up, as `lastFailure` says", "waiting for another job of the user"},
	{WaitingForExit, []State{Pending}, "waits until the process of the turn before is gone", "waiting for the previous process to exit"},
	{Preparing, []State{Running}, "gets its workspace: repositories are cloned, or a change is restored", "preparing the workspace"},
	{AtWork, []State{Running}, "has Claude at work", "Claude is on it"},
	{Capturing, []State{Running}, "has its change read", "capturing the change"},
	{Verifying, []State{Running}, "has its change verified", "verifying"},
	{Publishing, []State{Running}, "has its change pushed, and the finalizers run", "publishing"},
	{Held, []State{AwaitingApproval, AwaitingInput}, "has asked a person while Claude's call still waits for the reply", "Claude waits for the reply"},
}

// Words says in a few words what is going on; "" for no phase, and for one that a
// newer server may have.
func (p Phase) Words() string {
	for _, row := range Phases {
		if row.Phase == p {
			return row.Words
		}
	}
	return ""
}
