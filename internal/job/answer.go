package job

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// The requests and answers of the API other than records, which the server and the client share.

// ServerFields are the fields of answers to Claude that only the server writes: what a person has decided
// and written, and what to do. Nothing that comes from elsewhere may have their names.
var ServerFields = [...]string{"decision", "reply", "exchange", "instruction", "messages", "messagesId", "checkpointId"}

// CreatedJob answers POST /api/jobs.
type CreatedJob struct {
	RequestID ID     `json:"requestId"` // The job's id.
	SessionID string `json:"sessionId"` // The chat for the job's messages.
	State     State  `json:"status"`
}

// NewBulk is the body of POST /api/jobs/bulk.
type NewBulk struct {
	Action     BulkAction `json:"action"`     // Applied to each of the jobs.
	RequestIDs []ID       `json:"requestIds"` // The ids of the jobs, at most 200.
	// CheckpointIDs are, for the action answer, the questions that the caller was shown, in the order
	// of RequestIDs. A job that asks another question in the meantime is not answered.
	CheckpointIDs []CheckpointID `json:"checkpointIds,omitempty"`
	// Text is, for the action answer, the answer to each of the questions.
	Text string `json:"text,omitempty"`
}

// DiffPage selects a part of a diff: some lines, of one file or of all.
type DiffPage struct {
	Repository string // A name; empty: all repositories.
	File       string // A path, with or without its repository as a prefix; empty: all files.
	// From is the first line, from 1, and Lines the number of lines.
	From, Lines int
	Context     int  // The number of unchanged lines around each change; 0: as captured.
	Since       *int // The round since which changes are shown; nil: from the beginning.
}

// FileView is a file as callers see it.
type FileView struct {
	Path        string    `json:"path"`        // The file's path, relative to the job's working directory.
	Size        int64     `json:"size"`        // The file's size in bytes.
	ContentType string    `json:"contentType"` // The file's media type, by the ending of its name.
	ModifiedAt  time.Time `json:"modifiedAt"`  // The time at which the file was last modified.
	URL         string    `json:"url"`         // The path of the file on this server.
}

// FileList is a list of the files that a job made.
type FileList struct {
	Files     []FileView `json:"files"`               // The files, by path.
	Truncated bool       `json:"truncated,omitempty"` // True if there are more files than can be listed.
}

// KindView is a kind as callers see it.
type KindView struct {
	Name        string `json:"name"`        // The kind's name.
	Version     string `json:"version"`     // The current version of the prompt and schemas, see kindVersion of a job.
	Description string `json:"description"` // What jobs of this kind do.
	Events      string `json:"events"`      // The prefix of the names of the kind's events.
	// InputSchema is the JSON Schema of the input; absent in a list of kinds.
	InputSchema json.RawMessage `json:"inputSchema,omitempty" jsonschema:"type=object"`
	// ResultSchema is the JSON Schema of the result; absent in a list of kinds.
	ResultSchema json.RawMessage `json:"resultSchema,omitempty" jsonschema:"type=object"`
	Actions      []ActionView    `json:"actions,omitempty"` // The operations that the server runs for Claude.
}

// ActionView is an action of a kind as callers see it.
type ActionView struct {
	Name        string `json:"name"`        // The action's name, unique within its kind.
	Title       string `json:"title"`       // The action's name as shown to people.
	Description string `json:"description"` // What the action does, in one sentence.
	// When a person is asked first: always, never, or "when: " and an expression over the input.
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema" jsonschema:"type=object"` // The JSON Schema of the action's input.
}

// KindList is a list of the kinds of jobs.
type KindList struct {
	Kinds []KindView `json:"kinds"` // The kinds, by name.
}

// KindsReload answers POST /api/kinds/reload: the names of the kinds that have changed.
type KindsReload struct {
	Added    []string `json:"added"`              // The names of new kinds.
	Removed  []string `json:"removed"`            // The names of removed kinds.
	Changed  []string `json:"changed"`            // The names of kinds with a new version.
	Warnings []string `json:"warnings,omitempty"` // Actions of these kinds that cannot run on this node, and why.
}

// CheckpointPage is a page of the inbox.
type CheckpointPage struct {
	Checkpoints []Checkpoint `json:"checkpoints"`          // The checkpoints of this page, newest first.
	NextCursor  string       `json:"nextCursor,omitempty"` // The value of cursor for the next page; absent on the last.
}

// MessagePage is a page of a chat, oldest message first.
type MessagePage struct {
	SessionID string    `json:"sessionId"`           // The chat's id.
	Messages  []Message `json:"messages"`            // The messages of this page, oldest first.
	NextAfter int64     `json:"nextAfter,omitempty"` // The value of after for the next page; absent on the last.
	// LatestJob is the job that the next message to Claude goes to, or that another one follows if it
	// has ended; absent if the chat has no job.
	LatestJob ID `json:"latestJob,omitempty"`
}

// SentMessage answers /from-llm and /to-llm.
type SentMessage struct {
	Success   bool  `json:"success"`   // Always true.
	MessageID int64 `json:"messageId"` // The message's number in its chat, from 1.
}

// ApprovalList is a list of a user's standing approvals.
type ApprovalList struct {
	Approvals []Approval `json:"approvals"` // The user's standing approvals.
}

// NotificationList is a list of undelivered notifications.
type NotificationList struct {
	Notifications []Notification `json:"notifications"` // The undelivered notifications, oldest first.
}

// Readiness answers GET /api/readiness, and GET /readyz of the operators' listener.
type Readiness struct {
	Status   string   `json:"status"`             // "ready" if the server can work; otherwise "not ready".
	Problems []string `json:"problems,omitempty"` // The reasons why it is not.
	// Sandbox describes how what runs for jobs is confined.
	Sandbox  string   `json:"sandbox"`
	Warnings []string `json:"warnings,omitempty"` // Problems that do not keep the server from working.
	Limits   []Limit  `json:"limits,omitempty"`   // Claude's rate limits that currently keep jobs waiting, of all nodes.
}

// HTTPStatus is the status with which probes are answered.
func (r Readiness) HTTPStatus() int {
	if len(r.Problems) == 0 {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// Counts count the jobs that are retained, of all users. A status or kind without jobs
// may be missing.
type Counts struct {
	Total    int64                      `json:"total"`    // The number of jobs.
	ByStatus map[State]int64            `json:"byStatus"` // The number of jobs by status.
	ByKind   map[string]map[State]int64 `json:"byKind"`   // The number of jobs by kind and status.
}

// QuotaView is the limit and the current number of jobs of a kind.
type QuotaView struct {
	Kind   string `json:"kind"`   // The name of the kind.
	AtOnce int    `json:"atOnce"` // The maximum number of jobs that have started and not ended; 0: unlimited.
	PerDay int    `json:"perDay"` // The maximum number of jobs created on a day (UTC); 0: unlimited.
	Count
}

// Budget is a daily budget and its use today.
type Budget struct {
	// Of is the jobs that the budget is for: "server" (all), "kind" (those of one kind) or "user" (those of one
	// user).
	Of        BudgetOf `json:"of"`
	Kind      string   `json:"kind,omitempty"`   // The kind, for a budget of a kind.
	UserID    string   `json:"userId,omitempty"` // The user, for a budget of a user.
	BudgetUSD float64  `json:"budgetUsd"`        // The budget of the day (UTC), in US dollars.
	SpentUSD  float64  `json:"spentUsd"`         // The amount spent today (UTC), in US dollars.
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
	Opened    int64 `json:"opened"`    // The number of questions put to people. The other counts are their outcomes.
	Answered  int64 `json:"answered"`  // The number of questions answered.
	Clarified int64 `json:"clarified"` // The number of questions asked again because the reply was not clear.
	Expired   int64 `json:"expired"`   // The number of questions that no one answered in time.
	Cancelled int64 `json:"cancelled"` // The number of questions withdrawn, mostly because their job ended.
	// Held counts those answered while the call that asked was still waiting.
	Held     int64         `json:"answeredWhileHeld"`
	Approved int64         `json:"approved"` // The number of approvals.
	Denied   int64         `json:"denied"`   // The number of denials.
	Waited   time.Duration `json:"-"`        // The total time from question to answer over Answered.
}

// CheckpointStats are the counts of one type of checkpoint and the values derived from
// them. Rates are null while there is no data.
type CheckpointStats struct {
	CheckpointCounts
	// SecondsToAnswer is the mean time from question to answer, in seconds.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer" jsonschema:"nullable"`
	// HeldShare is the share of answers, from 0 to 1, given while the call was still waiting.
	HeldShare *float64 `json:"answeredWhileHeldShare" jsonschema:"nullable"`
	// ApprovalRate is the share of approvals among the decisions, from 0 to 1.
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
	Budgets []Budget    `json:"budgets,omitempty"`
	Quotas  []QuotaView `json:"quotas,omitempty"` // The quotas of kinds that are set.
	Days    []Day       `json:"days"`             // The last 30 days (UTC), oldest first.
}

// BulkOutcomes answers POST /api/jobs/bulk.
type BulkOutcomes struct {
	Succeeded int           `json:"succeeded"` // The number of jobs that the action was applied to.
	Jobs      []BulkOutcome `json:"jobs"`      // The outcomes for each job, in the order of the request.
}

// BulkOutcome is the outcome for one job.
type BulkOutcome struct {
	RequestID ID     `json:"requestId"`       // The job's id.
	Error     string `json:"error,omitempty"` // Why the action was not applied to the job; absent if it was.
	Hint      string `json:"hint,omitempty"`  // What to do about the error; absent if there is none.
}

// BulkAction is an action on many jobs at once. No decision is among them: a person allows only
// what they were shown.
type BulkAction string

// The actions.
const (
	BulkCancel BulkAction = "cancel"
	BulkRetry  BulkAction = "retry"
	BulkMove   BulkAction = "move"   // moves jobs to the current version of their kind
	BulkAnswer BulkAction = "answer" // gives the same answer to the question that each job asks
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
	return map[BulkAction]string{BulkCancel: "cancelled", BulkRetry: "started again", BulkMove: "moved", BulkAnswer: "answered"}[a]
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
	Problem   string `json:"problem"`
	Key       string `json:"key"`                 // The key in the store, without the prefix of the partition.
	Member    string `json:"member,omitempty"`    // The affected member of the key; absent for the whole key.
	RequestID ID     `json:"requestId,omitempty"` // The affected job; empty if none.
	Mended    bool   `json:"mended"`              // True if it was repaired.
}

// MaxFindings is the maximum number of findings that an examination lists.
const MaxFindings = 1000

// Examination is the result of checking a store.
type Examination struct {
	Found    int       `json:"found"`    // The number of inconsistencies found.
	Mended   int       `json:"mended"`   // The number of inconsistencies repaired.
	Findings []Finding `json:"findings"` // The inconsistencies; if there are too many, only the first.
	// Notifications counts the undelivered ones, by receiver.
	Notifications []NotificationCount `json:"notifications,omitempty"`
	// OldestQuestion is the time of the oldest question that no one has answered; absent if there is none.
	OldestQuestion time.Time `json:"oldestQuestion,omitzero"`
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
	Date    string             `json:"date"`    // The day, in UTC.
	CostUSD map[string]float64 `json:"costUSD"` // The cost of the turns that ended on that day, by kind, in US dollars.
	// FirstCallback is the numbers of these turns, by the time until Claude's first callback.
	FirstCallback []Class `json:"firstCallback"`
	Approvals     []Class `json:"approvals"` // The numbers of decisions on that day, by the time that they took.
}

// Class counts durations of at most UpToSeconds that are longer than the previous class allows.
type Class struct {
	// UpToSeconds is the upper bound of the durations counted, in seconds; null in the last class, which is
	// unbounded.
	UpToSeconds *int  `json:"upToSeconds" jsonschema:"nullable"`
	Count       int64 `json:"count"` // The number of durations.
}
