package lifecycle

import (
	"encoding/json"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
)

// Record is a job in the form that rules use: every field of its stored record, once. The tag is
// the field's name in the store. Durations are stored in milliseconds, times in milliseconds since
// 1970, and true as 1. Zero values are not stored. Slices and maps are replaced, never modified:
// Job.Loaded shares them.
//
// No rule reads the fields tagged "write" or "content": they are not loaded, and written if they are
// set. Those tagged "content" may be large and are stored apart from the record, which is read for each
// decision. The other data of a progress report (activity, recentDigests) has no field here, because no
// rule reads it either.
type Record struct {
	ID job.ID `store:"-"`
	// Version counts the commits that changed the job or anything under its id. A commit is refused
	// if it differs from the loaded version.
	Version int64 `store:"version"`

	Kind string `store:"kind"`
	// KindVersion is the version of the kind that the job uses until it ends, see kind.Kind.
	KindVersion string `store:"kindVersion"`
	// Next is the version to which the job moves with its next turn; nil for none.
	Next *NextKind `store:"nextKind"`
	// Title and Tags are as in job.Job. Tags never change.
	Title  string   `store:"title"`
	Tags   []string `store:"tags"`
	UserID string   `store:"user"`
	// APIKey is the name of the API key with which a back end asked for the job; empty if a person did.
	APIKey    string `store:"apiKey"`
	SessionID string `store:"session"`
	// EventPrefix is the prefix of the names of the job's events.
	EventPrefix string          `store:"prefix"`
	Input       json.RawMessage `store:"input,content"`
	Options     job.Options     `store:"options,write"`
	Priority    job.Priority    `store:"priority"`
	// Manual is true if a person plays Claude without a worker. It is false if the job works on
	// repositories, because a worker prepares and captures these around the turn.
	Manual bool `store:"manual"`
	// Simulated is true if a stand-in plays Claude.
	Simulated bool `store:"simulated"`
	// HasWorkspace is true if the job works on repositories. Its result is then captured and
	// reviewed before it is received.
	HasWorkspace bool `store:"hasWorkspace"`
	// Notify lists the channels for notifications about the job.
	Notify []string `store:"notify"`
	// CallbackTimeout is the time limit for a callback, for each turn. QueueTimeout is the maximum
	// wait for a worker, and Retention the time that the job is stored after its end.
	CallbackTimeout time.Duration `store:"timeout"`
	QueueTimeout    time.Duration `store:"queueTimeout"`
	Retention       time.Duration `store:"retention"`
	// IdempotencyKey is the caller's key, and RequestDigest identifies the request under it.
	IdempotencyKey string `store:"idempotency"`
	RequestDigest  string `store:"requestDigest"`
	// Interprets is the reply that this job interprets.
	Interprets Round `store:"interprets"`

	State      job.State `store:"state"`
	Phase      job.Phase `store:"phase"`
	PhaseUntil time.Time `store:"phaseUntil"`
	CreatedAt  time.Time `store:"created"`
	UpdatedAt  time.Time `store:"updated"`
	StartedAt  time.Time `store:"started"` // of the latest turn
	// FirstCallback is the time of Claude's first callback in that turn; zero until then. A
	// progress report sets it without incrementing Version.
	FirstCallback time.Time `store:"firstCallback"`
	// ResumedAt is the time at which a turn last continued after it had waited for a person or an
	// action.
	ResumedAt  time.Time `store:"resumed"`
	FinishedAt time.Time `store:"finished"`
	// Deadline is the time at which the clock that people see expires the job.
	Deadline time.Time `store:"deadline"`
	Error    string    `store:"error"`
	Code     job.Code  `store:"code"`

	// Turn counts the turns started. Attempt counts consecutive ones without a result, up to
	// MaxAttempts.
	Turn        int `store:"turn"`
	Attempt     int `store:"attempt"`
	MaxAttempts int `store:"attempts"`
	// ClaudeTurns counts the turns in which Claude worked, as in job.Job.
	ClaudeTurns int `store:"claudeTurns"`
	// Owner is the node that owns the job's worker, and Entry its entry in the queue. Node is the
	// node that ran the latest turn.
	Owner string `store:"owner"`
	Entry string `store:"entry"`
	Node  string `store:"node"`
	// RestartPending is true if the next turn is enqueued when the previous process exits. Follower
	// is the job that is enqueued at the same time.
	RestartPending bool   `store:"restartPending"`
	Follower       job.ID `store:"follower"`
	// ResumeReason is the reason for the next turn.
	ResumeReason *ResumeReason `store:"resumeReason"`
	// FailureTurn, FailureCode and FailureMessage describe the failure that Claude itself reported
	// for a turn. It takes effect when the turn's process has exited.
	FailureTurn    int          `store:"failureTurn"`
	FailureCode    job.Code     `store:"failureCode"`
	FailureMessage string       `store:"failureMessage"`
	LastFailure    *job.Failure `store:"lastFailure"`
	// Interrupt is the latest request to stop part of a turn. It is replaced, never modified.
	Interrupt *job.Interrupt `store:"interrupt"`
	// CLIVersions are the versions of the CLI that ran the turns.
	CLIVersions CLIVersions `store:"cliVersions"`
	// BlockedSince is the start of the period in which every turn has ended at a rate limit of
	// Claude's or could not start because of its node; zero if that is not true of the latest turn.
	BlockedSince time.Time `store:"blockedSince"`

	// Root is the job that began the conversation; empty if it is the job itself. Conversation
	// counts the conversations, and Begun is true if the CLI has begun the current one.
	Root         job.ID `store:"root"`
	Conversation int    `store:"conversation"`
	Begun        bool   `store:"begun"`
	// ConversationAt is the turn in which the CLI last continued the conversation; empty if
	// unknown. It distinguishes copies of the conversation by age.
	ConversationAt TurnName `store:"conversationAt"`
	// CostUSD is the cost of the job. CostBefore must be added to the cost that the CLI reports for
	// the conversation.
	CostUSD      float64 `store:"cost"`
	CostBefore   float64 `store:"costBefore"`
	InputTokens  int64   `store:"inputTokens"`
	OutputTokens int64   `store:"outputTokens"`
	// BudgetUSD is the job's budget; 0 means no limit of its own. Whenever it is exhausted, a
	// person may raise it by BudgetStep, its initial amount.
	BudgetUSD  float64 `store:"budget"`
	BudgetStep float64 `store:"budgetStep"`
	// CacheReadTokens and CacheWriteTokens count those of InputTokens that were read from the cache
	// or written to it. The meter adds to these and to CostUSD without incrementing Version.
	CacheReadTokens  int64 `store:"cacheReadTokens"`
	CacheWriteTokens int64 `store:"cacheWriteTokens"`
	// PendingMessages are the messages for the job's next turn. The first DeliveredMessages of them are
	// in the prompt of the running turn.
	PendingMessages   []int64 `store:"pendingMessages"`
	DeliveredMessages int     `store:"deliveredMessages"`
	// Prompted is the latest turn whose prompt the conversation contains, as the CLI has shown; 0 if none.
	// ContinuesCall is true if the latest turn begins with a call of the previous one: callbacks of that call
	// come before Claude has the prompt.
	Prompted      int  `store:"prompted"`
	ContinuesCall bool `store:"continuesCall"`
	// Words are people's messages to Claude. Offer is the latest offer of messages to the running
	// turn, until it is certain that they were read.
	Words Words  `store:"words"`
	Offer *Offer `store:"offer"`
	// Proxied is true if the server proxies the turn's requests to the model's API. Then it can see
	// in them which messages Claude has read. ToolCalls counts the turn's tool calls; it does not
	// increment Version.
	Proxied   bool `store:"proxied"`
	ToolCalls int  `store:"toolCalls"`
	// Blocks counts how often the turn was prevented from ending without a result.
	Blocks int `store:"blocks"`
	// Output is the position in the turn's output up to which it has been added to the chat.
	Output OutputPosition `store:"outputPosition"`

	// Signature is the digest of the signature of callbacks.
	Signature string `store:"signature"`
	// Result is the result that was accepted or is under review, and ResultDigest identifies its
	// payload. Submitted is true if a change was submitted that has not been decided on, see
	// State.startTurn.
	Result       json.RawMessage `store:"result,content"`
	ResultDigest string          `store:"digest"`
	Submitted    bool            `store:"submitted"`
	// Captured is the value of ClaudeTurns for which KeepSubmission has kept the submitted change. If Claude
	// has worked since, it is another change.
	Captured int `store:"captured"`

	// Checkpoint is the checkpoint that the job waits at. Question is the digest of the latest
	// question, and QuestionID its checkpoint, until Claude has received the answer.
	Checkpoint job.CheckpointID `store:"checkpoint"`
	Question   string           `store:"question"`
	QuestionID job.CheckpointID `store:"questionId"`
	// UnreadReplies are the replies that the running turn may not have received: the calls that asked
	// were still waiting for them, but may have been lost with their server.
	UnreadReplies UnreadReplies `store:"unreadReplies"`
	// KnownAnswers is the number of the job's answers, oldest first, that its conversation contains.
	// DeliveredAnswers also counts those in the prompt of the running turn and those given to its calls.
	KnownAnswers     int `store:"knownAnswers"`
	DeliveredAnswers int `store:"deliveredAnswers"`
	// CallbackLeft is the time that was left on the callback clock when it was paused: by a question,
	// while the job waits at Checkpoint, or by runs of actions. Pauses has the times until which each of
	// these runs may pause it. It is replaced, never modified. See State.runCallbackClock.
	CallbackLeft time.Duration       `store:"callbackLeft"`
	Pauses       map[RunID]time.Time `store:"pauses"`
	// Reviewed is the decision on the latest submitted change, until it is withdrawn: see State.retry.
	// Steers is the number of times it was steered.
	Reviewed job.Decision `store:"reviewed"`
	Steers   int          `store:"steers"`
	// QueuedSteers are the steers that are queued until the end of the turn, oldest first.
	QueuedSteers []QueuedSteer `store:"queuedSteers"`
	// Decisions are people's decisions that are not used yet, by approval key. Standing are the ids of
	// the standing approvals that end with the job.
	Decisions map[string]*approval.Decision `store:"decisions"`
	Standing  []string                      `store:"standing"`
	// Allowed are the checkpoints at which people have allowed something that is not over yet, see
	// State.conclude. FailedActions is as in job.Job. Both are replaced, never modified.
	Allowed       []job.CheckpointID `store:"allowed"`
	FailedActions []job.FailedAction `store:"failedActions"`
	// PublishedCommits is as in job.Job. It is replaced with each outcome of a publication, never modified.
	PublishedCommits []job.Published `store:"publishedCommits"`
	// PublicSoFar describes what is public, in records of format 9 that have no PublishedCommits.
	PublicSoFar string `store:"publicSoFar"`
	// KnownRuns are the runs of actions whose results Claude has not received yet, by approval key.
	KnownRuns map[string]RunID `store:"knownRuns"`
	// AuditHead is the end of the audit log. It is replaced, never modified: see State.audit.
	AuditHead *job.AuditHead `store:"auditHead"`
}

// AsShown returns the job as people see it, without the data that is not loaded with its record.
// Its checkpoint contains only the id.
func (r *Record) AsShown() job.Job {
	j := job.Job{
		ID: r.ID, Kind: r.Kind, KindVersion: r.KindVersion, Title: r.Title, Tags: r.Tags, UserID: r.UserID, APIKey: r.APIKey,
		SessionID: r.SessionID, State: r.State, Phase: r.Phase, PhaseUntil: r.PhaseUntil,
		Error: r.Error, ErrorCode: r.Code, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Deadline: r.Deadline,
		FinishedAt: r.FinishedAt,
		Turn:       r.Turn, ClaudeTurns: r.ClaudeTurns, Attempt: r.Attempt, MaxAttempts: r.MaxAttempts, Node: r.Node,
		Submitted: r.Submitted, Captured: r.isCaptured(), Approved: r.Approved(), Simulated: r.Simulated,
		Published:        r.HasWorkspace && r.State == job.Received,
		PublishedCommits: r.PublishedCommits, FailedActions: r.FailedActions, LastFailure: r.LastFailure,
		Interrupt: r.Interrupt, CLIVersions: r.CLIVersions,
		BudgetUSD: r.BudgetUSD, Usage: job.Usage{
			InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CacheReadTokens: r.CacheReadTokens,
			CacheWriteTokens: r.CacheWriteTokens, CostUSD: r.CostUSD,
		},
	}
	if r.Next != nil {
		j.NextKindVersion = r.Next.Version
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

// Approved reports whether the change was approved: the next turns publish it.
func (r *Record) Approved() bool { return r.HasWorkspace && r.Reviewed == job.Approve }

// isCaptured reports whether the submitted change is stored, so that Claude is not needed for it.
func (r *Record) isCaptured() bool {
	return r.Submitted && r.Captured > 0 && r.Captured == r.ClaudeTurns
}

// TurnName identifies a turn among those of all jobs: "<job>/<turn>".
type TurnName string

// NameTurn returns the name of a job's turn.
func NameTurn(id job.ID, turn int) TurnName { return TurnName(string(id) + "/" + itoa(turn)) }

// Round is one round of interpreting a person's reply to a checkpoint; the zero value is none.
// Another reply begins another round.
type Round struct {
	Checkpoint job.CheckpointID
	// Number is job.Checkpoint.Round.
	Number int
}

// OutputPosition is a position in the output of a turn, in bytes.
type OutputPosition struct {
	Turn   int
	Offset int64
}

// UnreadReplies are replies, oldest first; nil for none.
type UnreadReplies []UnreadReply

// UnreadReply identifies a reply by the checkpoint that Claude's call has asked, and the one that was
// answered: a later one if the person was asked again. Before is the number of the job's answers before it.
type UnreadReply struct {
	Question job.CheckpointID `json:"question"`
	Answered job.CheckpointID `json:"answered"`
	Before   int              `json:"before"`
}

// CLIVersions are versions of the CLI, oldest first.
type CLIVersions []job.CLIVersion

// mostCLIVersions is the maximum number of CLI versions that a record stores.
const mostCLIVersions = 50

// with returns the versions including the one that runs a turn. A version equal to the last one is
// not added again.
func (v CLIVersions) with(turn int, version string) CLIVersions {
	v = v.without(turn)
	if n := len(v); n > 0 && v[n-1].Version == version {
		return v
	}
	v = append(slices.Clone(v), job.CLIVersion{FromTurn: turn, Version: version})
	return v[max(0, len(v)-mostCLIVersions):]
}

// without returns the versions before a turn that the CLI did not run after all.
func (v CLIVersions) without(turn int) CLIVersions {
	if n := len(v); n > 0 && v[n-1].FromTurn == turn {
		return v[:n-1]
	}
	return v
}

// ResumeReason is the reason for the next turn.
type ResumeReason struct {
	Reason Reason `json:"reason"`
	// Detail is included in the prompt for Claude.
	Detail string `json:"detail,omitempty"`
}

// Reason is the kind of reason for another turn.
type Reason string

// The reasons.
const (
	Unfinished Reason = "unfinished" // the turn ended without a result
	Lost       Reason = "lost"       // the process was lost with its server
	Limited    Reason = "limited"    // the turn ended at a rate limit of Claude's
	Retried    Reason = "retried"    // a person asked for a retry
	Replied    Reason = "replied"    // a person answered a checkpoint

	Interrupted Reason = "interrupted" // a person stopped the turn
	// OtherVersion is the reason of the first turn under another version of the kind.
	OtherVersion Reason = "version"
)

// Checkpoint is the stored record of a question to a person.
type Checkpoint struct {
	ID job.CheckpointID `store:"-"`
	// Version is the same as Record.Version, for this checkpoint.
	Version int64 `store:"version"`

	// Head contains the fields that never change, in the form that is shown.
	Head   Head                 `store:"head"`
	Status job.CheckpointStatus `store:"status"`
	Type   job.CheckpointType   `store:"type"`
	// JobID is the job that asks; empty for a system outside Ringback.
	JobID       job.ID        `store:"job"`
	UserID      string        `store:"user"`
	SessionID   string        `store:"session"`
	EventPrefix string        `store:"prefix"`
	Retention   time.Duration `store:"retention"`
	// Timeout is the time limit for a reply.
	Timeout    time.Duration `store:"humanTimeout"`
	CreatedAt  time.Time     `store:"created"`
	AnsweredAt time.Time     `store:"answered"`
	// MessageID is the message that shows it in the session.
	MessageID int64 `store:"message"`
	// Held is true while the asking call still waits.
	Held  bool             `store:"held"`
	Reply *job.Reply       `store:"reply"`
	Next  job.CheckpointID `store:"next"`
	// Outcome is what came of what the reply has allowed; nil until then.
	Outcome *job.Outcome `store:"outcome"`
	// ApprovalKey identifies the operation that an approval would permit, AuditFields describes it
	// for the audit log, and ToolCallID is the waiting call in the chat; empty if there is none.
	ApprovalKey string        `store:"approvalKey"`
	AuditFields job.Operation `store:"auditFields"`
	ToolCallID  string        `store:"toolCallId"`
	// RaiseUSD is the amount by which an approval raises the job's budget; 0 for other questions.
	RaiseUSD float64 `store:"raise"`
	// Exchange is the conversation since the question was first asked.
	Exchange []job.Utterance `store:"exchange"`
	// Round counts the replies accepted for interpretation. ReplyMessageID is the latest of them,
	// and Interpreter the job that interprets it.
	Round          int    `store:"round"`
	ReplyMessageID int64  `store:"replyMessage"`
	Interpreter    job.ID `store:"interpreter"`
	// ReplyBy is its sender, until it is interpreted.
	ReplyBy job.Actor `store:"replyBy"`
	// Loaded is the record as loaded; nil for a new one.
	Loaded *Checkpoint `store:"-"`
	// Deleted is true if the commit removes it.
	Deleted bool `store:"-"`
}

// Head contains the fields of a checkpoint that never change.
type Head struct {
	ID        job.CheckpointID   `json:"id"`
	Type      job.CheckpointType `json:"type"`
	Message   string             `json:"message"`
	Props     json.RawMessage    `json:"props"`
	RequestID job.ID             `json:"requestId,omitempty"`
	SessionID string             `json:"sessionId"`
	UserID    string             `json:"userId"`
}

// View returns the checkpoint as people see it.
func (c *Checkpoint) View() job.Checkpoint {
	return job.Checkpoint{
		ID: c.ID, Type: c.Type, Status: c.Status, Message: c.Head.Message, Props: c.Head.Props,
		RequestID: c.JobID, SessionID: c.SessionID, UserID: c.UserID, MessageID: c.MessageID,
		ToolCallID: c.ToolCallID, Exchange: c.Exchange, Round: c.Round, Held: c.Held,
		CreatedAt: c.CreatedAt, AnsweredAt: c.AnsweredAt, Reply: c.Reply, Next: c.Next,
		Outcome: c.Outcome,
	}
}

// Session is the stored record of a chat.
type Session struct {
	UserID, ID string
	// Latest is the id of its latest message.
	Latest int64 `store:"n"`
	// Job is the job that receives what its user writes.
	Job job.ID `store:"job"`

	// LoadedLatest and LoadedJob are the loaded values. The commit is refused if the store has
	// different ones by then.
	LoadedLatest int64
	LoadedJob    job.ID
}

// CallOwner is the party that ends a tool call in a chat.
type CallOwner string

// The owners.
const (
	EndedByTurn   CallOwner = "turn"   // the process that made the call, by its output or its exit
	EndedByPerson CallOwner = "person" // a decision, or the fact that it is never used
	EndedByRun    CallOwner = "run"    // the run of an action
	CallEnded     CallOwner = "ended"  // it has already ended
)

// Call is a tool call that a job's chat shows. Each call ends exactly once.
type Call struct {
	Owner CallOwner
	// Messages are the messages that show it.
	Messages []int64
	Tool     string
}

// EndsWithJob reports whether a call is open that must end as soon as its job has ended and its
// process has exited. A run of an action may continue.
func (c Call) EndsWithJob() bool { return c.Owner == EndedByTurn || c.Owner == EndedByPerson }

// RunID identifies one run of an action.
type RunID string

// RunState is the state of a run.
type RunState string

// The states. If a run's server was lost, it is unknown whether the run took effect.
const (
	RunRunning   RunState = "running"
	RunSucceeded RunState = "success"
	RunFailed    RunState = "error"
	RunTimedOut  RunState = "timed_out"
	RunRefused   RunState = "refused" // it did not begin, because what it would do had changed
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
	// CallbackLeft is only for servers that write format 9: see Record.Pauses.
	CallbackLeft time.Duration `store:"callbackLeft,write"`
	// Lease is the time until which it is considered alive.
	Lease time.Time `store:"-"`
	// Loaded is the record as loaded; nil for a new one.
	Loaded *Run `store:"-"`
}
