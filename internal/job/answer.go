package job

import (
	"encoding/json"
	"slices"
	"time"
)

// The requests and answers of the API other than records, which the server and the client share.

// ServerFields are the fields of answers to Claude that only the server writes: what a person has decided
// and written, and what to do. Nothing that comes from elsewhere may have their names.
var ServerFields = [...]string{"decision", "reply", "exchange", "instruction", "messages", "messagesId", "checkpointId"}

// CreatedJob answers POST /api/jobs.
type CreatedJob struct {
	// RequestID is the job's id.
	RequestID ID     `json:"requestId"`
	SessionID string `json:"sessionId"`
	State     State  `json:"status"`
}

// NewBulk is the body of POST /api/jobs/bulk.
type NewBulk struct {
	// Action is applied to each of the jobs.
	Action BulkAction `json:"action"`
	// RequestIDs are the ids of the jobs, at most 200.
	RequestIDs []ID `json:"requestIds"`
	// CheckpointIDs are, for the action answer, the questions that the caller was shown, in the order
	// of RequestIDs. A job that asks another question by now is not answered.
	CheckpointIDs []CheckpointID `json:"checkpointIds,omitempty"`
	// Text is, for the action answer, the answer to each of the questions.
	Text string `json:"text,omitempty"`
}

// DiffPage selects a part of a diff: some lines, of one file or of all.
type DiffPage struct {
	// Repository is a name; empty: all repositories.
	Repository string
	// File is a path, with or without its repository as a prefix; empty: all files.
	File string
	// From is the first line, from 1, and Lines the number of lines.
	From, Lines int
	// Context is the number of unchanged lines around each change; 0: as captured.
	Context int
	// Since is the round since which changes are shown; nil: from the beginning.
	Since *int
}

// FileView is a file as callers see it.
type FileView struct {
	Path        string    `json:"path"`
	Size        int64     `json:"size"`
	ContentType string    `json:"contentType"`
	ModifiedAt  time.Time `json:"modifiedAt"`
	// URL is the path of the file on this server.
	URL string `json:"url"`
}

// FileList is a list of the files that a job made.
type FileList struct {
	Files []FileView `json:"files"`
	// Truncated is true if there are more files than can be listed.
	Truncated bool `json:"truncated,omitempty"`
}

// KindView is a kind as callers see it.
type KindView struct {
	Name string `json:"name"`
	// Version is the current version of the prompt and schemas, see kindVersion of a job.
	Version     string `json:"version"`
	Description string `json:"description"`
	// Events is the prefix of the names of the kind's events.
	Events string `json:"events"`
	// InputSchema and ResultSchema are JSON Schemas; a list of kinds leaves them out.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty" jsonschema:"type=object"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty" jsonschema:"type=object"`
	// Actions are run by the server for Claude; Confirm is the condition for asking a
	// person first.
	Actions []ActionView `json:"actions,omitempty"`
}

// ActionView is an action of a kind as callers see it.
type ActionView struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema" jsonschema:"type=object"`
}

// KindList is a list of the kinds of jobs.
type KindList struct {
	Kinds []KindView `json:"kinds"`
}

// KindsReload answers POST /api/kinds/reload: the names of the kinds that have changed.
type KindsReload struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	// Warnings are actions of these kinds that cannot run on this node, and why.
	Warnings []string `json:"warnings,omitempty"`
}

// CheckpointPage is a page of the inbox.
type CheckpointPage struct {
	Checkpoints []Checkpoint `json:"checkpoints"`
	// NextCursor is the value of cursor for the next page; absent on the last.
	NextCursor string `json:"nextCursor,omitempty"`
}

// MessagePage is a page of a chat, oldest message first.
type MessagePage struct {
	SessionID string    `json:"sessionId"`
	Messages  []Message `json:"messages"`
	// NextAfter is the value of after for the next page; absent on the last.
	NextAfter int64 `json:"nextAfter,omitempty"`
	// LatestJob is the job that the next message to Claude goes to, or that another one follows if it
	// has ended; absent if the chat has no job.
	LatestJob ID `json:"latestJob,omitempty"`
}

// SentMessage answers /from-llm and /to-llm.
type SentMessage struct {
	Success bool `json:"success"`
	// MessageID is the message's number in its chat, from 1.
	MessageID int64 `json:"messageId"`
}

// ApprovalList is a list of a user's standing approvals.
type ApprovalList struct {
	Approvals []Approval `json:"approvals"`
}

// NotificationList is a list of undelivered notifications.
type NotificationList struct {
	Notifications []Notification `json:"notifications"`
}

// Readiness answers GET /readyz.
type Readiness struct {
	Status string `json:"status"`
	// Sandbox describes how what runs for jobs is confined.
	Sandbox string `json:"sandbox"`
	// Warnings are problems that do not keep the server from working.
	Warnings []string `json:"warnings,omitempty"`
	// Limits are Claude's rate limits that currently keep jobs waiting, of all nodes.
	Limits []Limit `json:"limits,omitempty"`
}

// Counts count the jobs that are retained, of all users. A status or kind without jobs
// may be missing.
type Counts struct {
	Total    int64                      `json:"total"`
	ByStatus map[State]int64            `json:"byStatus"`
	ByKind   map[string]map[State]int64 `json:"byKind"`
}

// QuotaView is the limit and the current number of jobs of a kind.
type QuotaView struct {
	Kind string `json:"kind"`
	// AtOnce is the maximum number of jobs that have started and not ended; 0: unlimited.
	AtOnce int `json:"atOnce"`
	// PerDay is the maximum number of jobs created on a day (UTC); 0: unlimited.
	PerDay int `json:"perDay"`
	Count
}

// Budget is a daily budget and its use today.
type Budget struct {
	// Of is "server" for all jobs, "kind" for those of Kind, or "user" for those of UserID.
	Of     BudgetOf `json:"of"`
	Kind   string   `json:"kind,omitempty"`
	UserID string   `json:"userId,omitempty"`
	// BudgetUSD is the budget of the day (UTC), and SpentUSD what has been spent of it.
	BudgetUSD float64 `json:"budgetUsd"`
	SpentUSD  float64 `json:"spentUsd"`
}

// Name returns the kind or the user that the budget is for, or "all jobs".
func (b Budget) Name() string {
	switch b.Of {
	case BudgetOfKind:
		return b.Kind
	case BudgetOfUser:
		return "user " + b.UserID
	default:
		return "all jobs"
	}
}

// CheckpointCounts counts the checkpoints of one type since the store was created.
type CheckpointCounts struct {
	// Opened counts the checkpoints put to a person; the other fields count their outcomes.
	Opened    int64 `json:"opened"`
	Answered  int64 `json:"answered"`
	Clarified int64 `json:"clarified"`
	Expired   int64 `json:"expired"`
	Cancelled int64 `json:"cancelled"`
	// Held counts those answered while the call that asked was still waiting.
	Held int64 `json:"answeredWhileHeld"`
	// Approved and Denied count the decisions.
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
	// Waited is the total time from question to answer over Answered.
	Waited time.Duration `json:"-"`
}

// CheckpointStats are the counts of one type of checkpoint and the values derived from
// them. Rates are null while there is no data.
type CheckpointStats struct {
	CheckpointCounts
	// SecondsToAnswer is the mean time from question to answer.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer" jsonschema:"nullable"`
	// HeldShare is the share of answers given while the call was still waiting.
	HeldShare *float64 `json:"answeredWhileHeldShare" jsonschema:"nullable"`
	// ApprovalRate is the share of approvals among the decisions.
	ApprovalRate *float64 `json:"approvalRate" jsonschema:"nullable"`
}

// Statistics are counts over everything retained, of all users.
type Statistics struct {
	Jobs Counts `json:"jobs"`
	// Checkpoints are questions to people by type, and Total is for all types.
	Checkpoints map[CheckpointType]CheckpointStats `json:"checkpoints"`
	Total       CheckpointStats                    `json:"total"`
	// Limits are Claude's rate limits that currently keep jobs waiting.
	Limits []Limit `json:"limits,omitempty"`
	// Budgets are today's budgets (UTC) that are set. Of those of users, they contain the one that
	// the request names, or else the ten of which the most is spent.
	Budgets []Budget `json:"budgets,omitempty"`
	// Quotas are the quotas of kinds that are set.
	Quotas []QuotaView `json:"quotas,omitempty"`
	// Days are the last 30 days (UTC), oldest first.
	Days []Day `json:"days"`
}

// BulkOutcomes answers POST /api/jobs/bulk.
type BulkOutcomes struct {
	// Succeeded is the number of jobs that the action was applied to.
	Succeeded int `json:"succeeded"`
	// Jobs are the outcomes for each job, in the order of the request.
	Jobs []BulkOutcome `json:"jobs"`
}

// BulkOutcome is the outcome for one job.
type BulkOutcome struct {
	// RequestID is the job's id.
	RequestID ID `json:"requestId"`
	// Error describes why the action was not applied to the job, and Hint what to do;
	// absent if it was.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// BulkAction is an action on many jobs at once. No decision is among them: a person allows only
// what they were shown.
type BulkAction string

// The actions.
const (
	BulkCancel BulkAction = "cancel"
	BulkRetry  BulkAction = "retry"
	// BulkMove moves jobs to the current version of their kind.
	BulkMove BulkAction = "move"
	// BulkAnswer gives the same answer to the question that each job asks.
	BulkAnswer BulkAction = "answer"
)

// BulkActions lists every action.
var BulkActions = [...]BulkAction{BulkCancel, BulkRetry, BulkMove, BulkAnswer}

// MostInBulk is the maximum number of jobs in one request.
const MostInBulk = 200

// Check returns an Invalid error unless the action is one of BulkActions.
func (a BulkAction) Check() error {
	if slices.Contains(BulkActions[:], a) {
		return nil
	}
	return UnknownName("/action", string(a), BulkActions[:])
}

// Done describes, after a number of jobs, what the action has done to them.
func (a BulkAction) Done() string {
	switch a {
	case BulkRetry:
		return "started again"
	case BulkMove:
		return "moved"
	case BulkAnswer:
		return "answered"
	default:
		return "cancelled"
	}
}

// AppliesTo reports whether the action applies to jobs in a state.
func (a BulkAction) AppliesTo(s State) bool {
	switch a {
	case BulkRetry:
		return s.Retryable()
	case BulkAnswer:
		return s == AwaitingInput
	default:
		return !s.Terminal()
	}
}

// Finding is stored data that does not match the records of jobs and checkpoints. The records are
// authoritative: the lists, slots, queues and timers are derived from them.
type Finding struct {
	// Problem describes what is wrong.
	Problem string `json:"problem"`
	// Key is the key in the store, without the prefix of the partition. Member is the member of it,
	// or empty for the whole key.
	Key    string `json:"key"`
	Member string `json:"member,omitempty"`
	// RequestID is the affected job; empty if none.
	RequestID ID `json:"requestId,omitempty"`
	// Mended is true if it was repaired.
	Mended bool `json:"mended"`
}

// MaxFindings is the maximum number of findings that an examination lists.
const MaxFindings = 1000

// Examination is the result of checking a store.
type Examination struct {
	// Found counts the findings, and Mended those that were repaired.
	Found  int `json:"found"`
	Mended int `json:"mended"`
	// Findings are the first MaxFindings.
	Findings []Finding `json:"findings"`
	// Notifications counts the undelivered ones, by receiver.
	Notifications []NotificationCount `json:"notifications,omitempty"`
}

// Add counts a finding.
func (e *Examination) Add(f Finding) {
	e.Found++
	if f.Mended {
		e.Mended++
	}
	if len(e.Findings) < MaxFindings {
		e.Findings = append(e.Findings, f)
	}
}

// Day is the counts of one day, over all users, kinds and nodes.
type Day struct {
	// Date is the day, in UTC.
	Date string `json:"date"`
	// CostUSD is the cost of the turns that ended on that day, by kind.
	CostUSD map[string]float64 `json:"costUSD"`
	// FirstCallback counts those turns by the time until Claude's first callback. Approvals counts
	// the decisions by the time they took.
	FirstCallback []Class `json:"firstCallback"`
	Approvals     []Class `json:"approvals"`
}

// Class counts durations of at most UpToSeconds that are longer than the previous class allows.
type Class struct {
	// UpToSeconds is nil in the last class, which is unbounded.
	UpToSeconds *int  `json:"upToSeconds" jsonschema:"nullable"`
	Count       int64 `json:"count"`
}
