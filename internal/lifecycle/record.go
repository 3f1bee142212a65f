package lifecycle

import (
	"encoding/json"
	"slices"
	"time"

	"ringback/internal/job"
)

// Record is a job as its rules see it: every field of its stored record, once. The
// tag is the field's name in the store. Durations are stored in milliseconds, times in milliseconds since
// 1970, truths as 1, and values that are zero not at all.
//
// Fields tagged write are large and no rule looks at them: they are not loaded, and
// written where they are set. What else a progress report stores (activity,
// recentDigests) is no field of it: no rule looks at that either.
type Record struct {
	ID job.ID `store:"-"`
	// Version counts the commits that changed the job or anything under its id. A
	// commit is refused where it is not what was loaded.
	Version int64 `store:"version"`
	// Commit names the last of them, so that who has lost the answer knows its own.
	Commit string `store:"commit"`

	Kind string `store:"kind"`
	// KindVersion is the version of the kind that the job keeps, see kind.Kind.
	KindVersion string `store:"kindVersion"`
	// Title and Tags are as in job.Job. Tags are never changed.
	Title     string   `store:"title"`
	Tags      []string `store:"tags"`
	UserID    string   `store:"user"`
	SessionID string   `store:"session"`
	// EventPrefix begins the names of the job's events.
	EventPrefix string          `store:"prefix"`
	Input       json.RawMessage `store:"input,write"`
	Options     json.RawMessage `store:"options,write"` // job.Options
	Priority    job.Priority    `store:"priority"`
	// Manual is whether no worker runs it, for a person plays Claude. Where the job works on
	// repositories one does, for these are prepared and captured around the turn.
	Manual bool `store:"manual"`
	// Simulated is whether a stand-in plays Claude.
	Simulated bool `store:"simulated"`
	// HasWorkspace is whether the job works on repositories: its result is captured
	// and reviewed before it is received.
	HasWorkspace bool `store:"hasWorkspace"`
	// Notify names the ways by which the outside is told of the job.
	Notify []string `store:"notify"`
	// CallbackTimeout is how long each turn has to call back, QueueTimeout how long the
	// job waits for a worker, and Retention how long it is kept after its end.
	CallbackTimeout time.Duration `store:"timeout"`
	QueueTimeout    time.Duration `store:"queueTimeout"`
	Retention       time.Duration `store:"retention"`
	// IdempotencyKey is the caller's, and RequestDigest tells what was asked for
	// under it.
	IdempotencyKey string `store:"idempotency"`
	RequestDigest  string `store:"requestDigest"`
	// Interprets is the reply that this job is to make sense of.
	Interprets Round `store:"interprets"`

	State      job.State `store:"state"`
	Phase      job.Phase `store:"phase"`
	PhaseUntil time.Time `store:"phaseUntil"`
	CreatedAt  time.Time `store:"created"`
	UpdatedAt  time.Time `store:"updated"`
	StartedAt  time.Time `store:"started"` // the latest turn
	// FirstCallback is when Claude first called back in that turn; zero before. A progress
	// report sets it without raising Version.
	FirstCallback time.Time `store:"firstCallback"`
	// ResumedAt is when a turn last went on after it had waited for a person or an action.
	ResumedAt  time.Time `store:"resumed"`
	FinishedAt time.Time `store:"finished"`
	// Deadline is when the clock that people see expires the job.
	Deadline time.Time `store:"deadline"`
	Error    string    `store:"error"`
	Code     job.Code  `store:"code"`

	// Turn counts the turns started, Attempt those in a row without a result, of
	// MaxAttempts.
	Turn        int `store:"turn"`
	Attempt     int `store:"attempt"`
	MaxAttempts int `store:"attempts"`
	// Owner is the node that holds the job's worker, Entry its entry in the queue;
	// Node ran the latest turn.
	Owner string `store:"owner"`
	Entry string `store:"entry"`
	Node  string `store:"node"`
	// RestartPending is whether the next turn is enqueued when the process of the
	// one before is gone, and Follower the job that is enqueued then.
	RestartPending bool   `store:"restartPending"`
	Follower       job.ID `store:"follower"`
	// ResumeReason tells the next turn why it is needed.
	ResumeReason *ResumeReason `store:"resumeReason"`
	// FailureTurn, FailureCode and FailureMessage are what Claude itself reported of
	// the turn, which is told when its process is gone.
	FailureTurn    int          `store:"failureTurn"`
	FailureCode    job.Code     `store:"failureCode"`
	FailureMessage string       `store:"failureMessage"`
	LastFailure    *job.Failure `store:"lastFailure"`
	// Interrupt is the latest request to stop what a turn does. It is replaced, never written to.
	Interrupt *job.Interrupt `store:"interrupt"`
	// CLIVersions are the versions of the CLI that ran the turns.
	CLIVersions CLIVersions `store:"cliVersions"`
	// BlockedSince is since when each turn has ended at a limit of Claude's, or could not start
	// because of its node; zero where that is not so of the latest.
	BlockedSince time.Time `store:"blockedSince"`

	// Root is the job that began the conversation, empty for the job itself;
	// Conversation counts the conversations there were, and Begun is whether the CLI
	// has begun the present one.
	Root         job.ID `store:"root"`
	Conversation int    `store:"conversation"`
	Begun        bool   `store:"begun"`
	// ConversationAt is the turn in which the CLI last went on with the conversation, by
	// its job and number; empty where that is not known. It tells a copy of the
	// conversation from an older one.
	ConversationAt TurnName `store:"conversationAt"`
	// CostUSD is what the job cost, and CostBefore what to add to what the CLI says
	// of the conversation.
	CostUSD      float64 `store:"cost"`
	CostBefore   float64 `store:"costBefore"`
	InputTokens  int64   `store:"inputTokens"`
	OutputTokens int64   `store:"outputTokens"`
	// BudgetUSD is what the job may cost; 0: no limit of its own. A person may raise it by
	// BudgetStep, what it was at first, as often as it is used up.
	BudgetUSD  float64 `store:"budget"`
	BudgetStep float64 `store:"budgetStep"`
	// CacheReadTokens and CacheWriteTokens are those of InputTokens that the cache was used
	// for. The meter adds to these and to CostUSD without raising Version.
	CacheReadTokens  int64 `store:"cacheReadTokens"`
	CacheWriteTokens int64 `store:"cacheWriteTokens"`
	// DeliveredMessages is how many of the pending messages are in the prompt of the
	// running turn.
	DeliveredMessages int `store:"deliveredMessages"`
	// Words are what people have written to Claude, and Offer what of it the running turn was told
	// last, while it is not certain that it was heard.
	Words Words  `store:"words"`
	Offer *Offer `store:"offer"`
	// Proxied is true if the turn's requests to the model's API go through the server, which sees
	// in them what was heard. ToolCalls counts the turn's tool calls, without raising Version.
	Proxied   bool `store:"proxied"`
	ToolCalls int  `store:"toolCalls"`
	// Blocks counts how often the turn was kept from ending without a result.
	Blocks int `store:"blocks"`
	// Output is how far what Claude says is in the chat.
	Output OutputPosition `store:"outputPosition"`

	// Signature is the digest of the signature that callbacks carry.
	Signature string `store:"signature"`
	// Result is what was accepted, or is under review, and ResultDigest tells which
	// payload that was. Submitted is whether a change was submitted that nobody has
	// decided on yet, see State.startTurn.
	Result       json.RawMessage `store:"result,write"`
	ResultDigest string          `store:"digest"`
	Submitted    bool            `store:"submitted"`

	// Checkpoint is what the job waits at. Question is the digest of the question
	// last asked and QuestionID its checkpoint, until Claude was given the answer.
	Checkpoint job.CheckpointID `store:"checkpoint"`
	Question   string           `store:"question"`
	QuestionID job.CheckpointID `store:"questionId"`
	// CallbackLeft is what was left of the callback clock when it was stopped for a
	// person.
	CallbackLeft time.Duration `store:"callbackLeft"`
	// Answers are the checkpoints that a person has answered, in order.
	Answers Answers `store:"answers"`
	// Reviewed is the decision on the change that was submitted last, and Steers how
	// often it was steered.
	Reviewed job.Decision `store:"reviewed"`
	Steers   int          `store:"steers"`
	// AuditHead is the end of the audit log. It is replaced, never written to: see State.audit.
	AuditHead *job.AuditHead `store:"auditHead"`
}

// AsShown is the job as people see it, but for what is not loaded with its record. Of its
// checkpoint it has the id.
func (r *Record) AsShown() job.Job {
	j := job.Job{
		ID: r.ID, Kind: r.Kind, KindVersion: r.KindVersion, Title: r.Title, Tags: r.Tags, UserID: r.UserID, SessionID: r.SessionID, State: r.State, Phase: r.Phase, PhaseUntil: r.PhaseUntil,
		Error: r.Error, ErrorCode: r.Code, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Deadline: r.Deadline, FinishedAt: r.FinishedAt,
		Turn: r.Turn, Attempt: r.Attempt, MaxAttempts: r.MaxAttempts, Node: r.Node, Submitted: r.Submitted, Simulated: r.Simulated,
		LastFailure: r.LastFailure, Interrupt: r.Interrupt, CLIVersions: r.CLIVersions, BudgetUSD: r.BudgetUSD, Usage: job.Usage{
			InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens, CacheWriteTokens: r.CacheWriteTokens, CostUSD: r.CostUSD,
		},
	}
	for _, w := range r.Words {
		j.Words = append(j.Words, w.Word)
	}
	if r.AuditHead != nil && r.AuditHead.Count > 0 {
		j.Audit = r.AuditHead
	}
	if r.Checkpoint != "" {
		j.Checkpoint = &job.Checkpoint{ID: r.Checkpoint}
	}
	return j
}

// TurnName names a turn among those of all jobs: "<job>/<turn>".
type TurnName string

// NameTurn is the name of a job's turn.
func NameTurn(id job.ID, turn int) TurnName { return TurnName(string(id) + "/" + itoa(turn)) }

// Round is one round of making sense of what a person replied to a checkpoint; the
// zero value is none. A further reply begins another round.
type Round struct {
	Checkpoint job.CheckpointID
	// Number is job.Checkpoint.Round.
	Number int
}

// OutputPosition is a place in the output of a turn, in bytes.
type OutputPosition struct {
	Turn   int
	Offset int64
}

// Answers is a list of answered checkpoints.
type Answers []job.Checkpoint

// CLIVersions are versions of the CLI, oldest first.
type CLIVersions []job.CLIVersion

// mostCLIVersions is how many changes of the CLI's version a record keeps.
const mostCLIVersions = 50

// with returns them with the version that runs a turn. Each change is kept once.
func (v CLIVersions) with(turn int, version string) CLIVersions {
	if n := len(v); n > 0 && v[n-1].Version == version {
		return v
	}
	v = append(slices.Clone(v), job.CLIVersion{FromTurn: turn, Version: version})
	return v[max(0, len(v)-mostCLIVersions):]
}

// ResumeReason tells the next turn why it is needed.
type ResumeReason struct {
	Reason Reason `json:"reason"`
	// Detail is what the prompt repeats to Claude.
	Detail string `json:"detail,omitempty"`
}

// Reason is why another turn is started.
type Reason string

// The reasons.
const (
	Unfinished Reason = "unfinished" // the turn ended without a result
	Lost       Reason = "lost"       // the process was lost with its server
	Limited    Reason = "limited"    // the turn ended at a limit of Claude's
	Retried    Reason = "retried"    // a person asked for a retry
	Replied    Reason = "replied"    // a person answered a checkpoint

	Interrupted Reason = "interrupted" // a person stopped the turn
)

// Checkpoint is the stored record of a question to a person.
type Checkpoint struct {
	ID job.CheckpointID `store:"-"`
	// Version is as Record.Version, for this checkpoint.
	Version int64 `store:"version"`

	// Head is what never changes of it, as it is shown.
	Head   Head                 `store:"head"`
	Status job.CheckpointStatus `store:"status"`
	Type   job.CheckpointType   `store:"type"`
	// JobID is the job that asks; empty for something outside Ringback.
	JobID       job.ID        `store:"job"`
	UserID      string        `store:"user"`
	SessionID   string        `store:"session"`
	EventPrefix string        `store:"prefix"`
	Retention   time.Duration `store:"retention"`
	// Timeout is how long it waits for a reply.
	Timeout    time.Duration `store:"humanTimeout"`
	CreatedAt  time.Time     `store:"created"`
	AnsweredAt time.Time     `store:"answered"`
	// MessageID is the message that puts it into the session.
	MessageID int64 `store:"message"`
	// Held is whether the call that asked still waits.
	Held  bool             `store:"held"`
	Reply *job.Reply       `store:"reply"`
	Next  job.CheckpointID `store:"next"`
	// ApprovalKey is what a yes would permit, AuditFields the same for the audit log,
	// and ToolCallID the call in the chat that waits for it; empty for nothing.
	ApprovalKey string        `store:"approvalKey"`
	AuditFields job.Operation `store:"auditFields"`
	ToolCallID  string        `store:"toolCallId"`
	// RaiseUSD is by how much a yes raises the job's budget; 0 for other questions.
	RaiseUSD float64 `store:"raise"`
	// Exchange is what was said since the question was first put.
	Exchange []job.Utterance `store:"exchange"`
	// Round counts the replies taken to be interpreted, ReplyMessageID is the latest
	// of them, and Interpreter the job that does it.
	Round          int    `store:"round"`
	ReplyMessageID int64  `store:"replyMessage"`
	Interpreter    job.ID `store:"interpreter"`
	// Commit is as Record.Commit.
	Commit string `store:"commit"`
	// Loaded is the record as it was loaded; nil for a new one.
	Loaded *Checkpoint `store:"-"`
	// Deleted is whether the commit removes it.
	Deleted bool `store:"-"`
}

// Head is what never changes of a checkpoint.
type Head struct {
	ID        job.CheckpointID   `json:"id"`
	Type      job.CheckpointType `json:"type"`
	Message   string             `json:"message"`
	Props     json.RawMessage    `json:"props"`
	RequestID job.ID             `json:"requestId,omitempty"`
	SessionID string             `json:"sessionId"`
	UserID    string             `json:"userId"`
}

// View is the checkpoint as people see it.
func (c *Checkpoint) View() job.Checkpoint {
	return job.Checkpoint{
		ID: c.ID, Type: c.Type, Status: c.Status, Message: c.Head.Message, Props: c.Head.Props,
		RequestID: c.JobID, SessionID: c.SessionID, UserID: c.UserID, MessageID: c.MessageID,
		ToolCallID: c.ToolCallID, Exchange: c.Exchange, Round: c.Round, Held: c.Held,
		CreatedAt: c.CreatedAt, AnsweredAt: c.AnsweredAt, Reply: c.Reply, Next: c.Next,
	}
}

// Session is the stored record of a chat.
type Session struct {
	UserID, ID string
	// Latest is the id of its latest message.
	Latest int64 `store:"n"`
	// Job is the job that is told what its user writes.
	Job job.ID `store:"job"`
	// Commit is as Record.Commit.
	Commit string `store:"commit"`

	// LoadedLatest and LoadedJob are what was loaded; the commit is refused where the
	// store has something else by then.
	LoadedLatest int64
	LoadedJob    job.ID
}

// CallOwner says who ends a call of a tool that a chat shows.
type CallOwner string

// The owners.
const (
	EndedByTurn   CallOwner = "turn"   // the process that made it, by its output or by being gone
	EndedByPerson CallOwner = "person" // a decision, or that it is never used
	EndedByRun    CallOwner = "run"    // the run of an action
	CallEnded     CallOwner = "ended"  // it has its end
)

// Call is a call of a tool that a job's chat shows. Each gets exactly one end.
type Call struct {
	Owner CallOwner
	// Messages are those that show it.
	Messages []int64
	Tool     string
}

// EndsWithJob reports whether a call is open that must have its end when its job has ended
// and its process is gone. A run of an action may go on.
func (c Call) EndsWithJob() bool { return c.Owner == EndedByTurn || c.Owner == EndedByPerson }

// RunID identifies one run of an action.
type RunID string

// RunState says how far a run is.
type RunState string

// The states. A run whose server was lost is unknown: nobody knows whether it took
// effect.
const (
	RunRunning   RunState = "running"
	RunSucceeded RunState = "success"
	RunFailed    RunState = "error"
	RunUnknown   RunState = "unknown"
)

// Run is the stored record of one run of an action.
type Run struct {
	ID RunID `store:"-"`

	JobID       job.ID        `store:"job"`
	Action      string        `store:"name"`
	ApprovalKey string        `store:"approvalKey"`
	AuditFields job.Operation `store:"auditFields"`
	// ToolCallID is the call in the chat that shows it.
	ToolCallID string          `store:"toolCallId"`
	State      RunState        `store:"state"`
	StartedAt  time.Time       `store:"started"`
	Result     json.RawMessage `store:"result"`
	// CallbackLeft is what was left of the callback clock, which stands still.
	CallbackLeft time.Duration `store:"callbackLeft"`
	// Loaded is the record as it was loaded; nil for a new one.
	Loaded *Run `store:"-"`
}
