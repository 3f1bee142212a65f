package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ID identifies a job. In JSON it is called requestId. Its format is "req_<partition>_<random>";
// only the store interprets it.
type ID string

// Job is the complete record of a job: one piece of work of one kind for one user, as returned by
// GET /api/jobs/:id. Times are UTC.
type Job struct {
	ID ID `json:"requestId"` // The job's id. Claude repeats it in every callback.
	// Kind names the prompt, schemas and policy of the job.
	Kind string `json:"kind"`
	// KindVersion is the version of the kind that the job has until it is moved: the hex SHA-256 of
	// its prompt and schemas.
	KindVersion string `json:"kindVersion"`
	// NextKindVersion is the version to which the job moves with its next turn; absent for none.
	NextKindVersion string `json:"nextKindVersion,omitempty"`
	// Title is composed by the kind from the input; empty if the kind has no title. Values of the
	// input are quoted, with invisible characters as escapes.
	Title     string   `json:"title,omitempty"`
	Tags      []string `json:"tags,omitempty"`  // The caller's words for grouping jobs, in the caller's order.
	UserID    string   `json:"userId"`          // The owner of the job; only this person receives its events.
	APIKey    string   `json:"-"`               // The name of the API key with which the job was requested; empty for none.
	SessionID string   `json:"sessionId"`       // The chat that the job's messages belong to.
	State     State    `json:"status"`          // The job's state.
	Phase     Phase    `json:"phase,omitempty"` // What the job is doing within its state; absent if there is nothing to add.
	// PhaseUntil is the earliest end of the phase: the time of the next attempt. It is zero if
	// unknown.
	PhaseUntil time.Time `json:"phaseUntil,omitzero"`
	// Queue is the job's place in the queue while it waits for a worker; absent otherwise.
	Queue *QueuePlace `json:"queue,omitempty"`
	// Simulated is true if a stand-in plays Claude, so that all text and results are made up.
	// Either Options requests it, or no CLI is available.
	Simulated bool            `json:"simulated,omitempty"`
	Input     json.RawMessage `json:"input" jsonschema:"type=object"` // The request, valid under the kind's input schema.
	Options   Options         `json:"options,omitzero"`               // The caller's settings for this job.
	// Activity is the latest progress that Claude reported; absent before the first.
	Activity *Activity `json:"activity,omitempty"`
	// Result is the result that Claude submitted, valid under the kind's result schema; absent until
	// it is accepted.
	Result    json.RawMessage `json:"result,omitempty" jsonschema:"type=object"`
	Submitted bool            `json:"-"` // True if this turn has submitted a change that must be captured for review.
	Captured  bool            `json:"-"` // True if that change is stored, so that any node can continue it.
	Approved  bool            `json:"-"` // True if the change was approved, and the approval was neither used nor withdrawn.
	// Published is true if the server has published the change: "finalized" in Result is the server's then.
	Published bool `json:"-"`
	// Node is the node that ran the latest turn and has the files of the job's working directory;
	// empty before the first turn.
	Node string `json:"-"`
	// Error is the reason, for people, why an expired, failed, rejected or cancelled job ended.
	Error     string `json:"error,omitempty"`
	ErrorCode Code   `json:"errorCode,omitempty"` // The same reason, for programs.
	// Checkpoint is the question that the job waits for; absent if it does not wait.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Turn counts the turns started so far, so it is also the number of the latest one.
	Turn int `json:"turn"`
	// ClaudeTurns counts those in which Claude worked: an approved change is published in a
	// turn without Claude.
	ClaudeTurns int `json:"claudeTurns"`
	// Attempt is the number of consecutive turns that ended without a result. At `maxAttempts` the job fails.
	Attempt int `json:"attempt,omitempty"`
	// MaxAttempts is the number of consecutive turns without a result at which the job fails.
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// LastFailure is the latest failed turn's failure; absent if none has failed. It is kept while the
	// job is retried, and after it has succeeded.
	LastFailure *Failure `json:"lastFailure,omitempty"`
	// FailedActions are the latest of the actions, tool calls and publications that people have allowed
	// and that did not succeed, oldest first; at most ten.
	FailedActions []FailedAction `json:"failedActions,omitempty"`
	// PublishedCommits are the commits of the job's change that are public, or may be. No decision and no
	// end of the job takes them back.
	PublishedCommits []Published `json:"publishedCommits,omitempty"`
	// Words are the latest messages of people to the job, with their status: all that wait, and the
	// last of those that Claude has read.
	Words     []Word     `json:"words,omitempty"`
	Interrupt *Interrupt `json:"interrupt,omitempty"` // The latest request to stop part of a turn; absent for none.
	// CLIVersions are the versions of the Claude CLI that ran the turns, oldest first: the first
	// one, and every change. Only the latest 50 are kept.
	CLIVersions []CLIVersion `json:"cliVersions,omitempty"`
	Usage       Usage        `json:"usage"` // The sum over all turns.
	// BudgetUSD is the job's budget in US dollars, over all attempts and rounds; 0 means no limit
	// of its own.
	BudgetUSD float64 `json:"budgetUsd,omitempty"`
	// Audit is the end of the audit log, which reveals a log that was tampered with; absent while the
	// log is empty.
	Audit     *AuditHead `json:"audit,omitempty"`
	CreatedAt time.Time  `json:"createdAt"` // The time at which the job was requested.
	UpdatedAt time.Time  `json:"updatedAt"` // The time at which the record last changed.
	// Deadline is the time at which the running timer (callback or human) expires the job; zero
	// when none runs.
	Deadline time.Time `json:"deadline,omitzero"`
	// FinishedAt is the time at which the job reached a terminal state; absent until then.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Options are the caller's settings for one job.
type Options struct {
	// Simulate requests a stand-in for Claude; default: none.
	Simulate Simulation `json:"simulate,omitempty"`
	// Priority decides which job goes first when workers are scarce; empty for the kind's own.
	Priority Priority `json:"priority,omitempty"`
	// BudgetUSD is the job's budget in US dollars; 0 for the kind's budget. Only back ends may
	// request more than that.
	BudgetUSD float64 `json:"budgetUsd,omitempty" jsonschema:"minimum=0,maximum=10000"`
}

// Simulation selects a stand-in for Claude.
type Simulation string

// The stand-ins.
const (
	SimulateNone    Simulation = ""        // runs the configured Claude
	SimulateManual  Simulation = "manual"  // starts no process: a person plays Claude with curl
	SimulateSuccess Simulation = "success" // runs the simulated Claude, which succeeds
	// SimulateRepair runs the simulated Claude, which first submits an invalid result, then reads
	// the error and repairs it.
	SimulateRepair  Simulation = "repair"
	SimulateFailure Simulation = "failure" // runs the simulated Claude, which reports that it cannot do the job
	SimulateSilence Simulation = "silence" // runs the simulated Claude, which never calls back
)

// Simulations lists every Simulation that a caller may request by name.
var Simulations = [...]Simulation{SimulateManual, SimulateSuccess, SimulateRepair, SimulateFailure, SimulateSilence}

// Priority orders jobs that wait for a worker.
type Priority string

// The priorities, the first first.
const (
	Interactive Priority = "interactive" // jobs have a person waiting, and go first
	Batch       Priority = "batch"       // jobs run when no interactive job waits, and occasionally in between
)

// ActivityType is the type of work that Claude reports.
type ActivityType string

// The activity types; Querying is the default.
const (
	Thinking ActivityType = "thinking"
	Querying ActivityType = "querying"
	Results  ActivityType = "results"
)

// Activity is one progress report.
type Activity struct {
	Message  string       `json:"message"`  // The text for people.
	Type     ActivityType `json:"type"`     // The phase of the work.
	Progress float64      `json:"progress"` // The completed share in percent, 0 to 100.
}

// Usage is the consumption of turns. If the server proxies the requests to the model's API, it
// counts from the responses; otherwise, these are the CLI's figures.
type Usage struct {
	// InputTokens counts input tokens, including cached ones.
	InputTokens int64 `json:"inputTokens"`
	// OutputTokens counts output tokens.
	OutputTokens    int64 `json:"outputTokens"`
	CacheReadTokens int64 `json:"cacheReadTokens,omitempty"` // The number of input tokens that were read from the cache.
	// CacheWriteTokens is the number of input tokens that were written to the cache.
	CacheWriteTokens int64   `json:"cacheWriteTokens,omitempty"`
	CostUSD          float64 `json:"costUsd"` // The cost in US dollars: from the price table, or else the CLI's own estimate.
}

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		CostUSD:          u.CostUSD + v.CostUSD,
	}
}

// Failure describes a turn that ended without a result.
type Failure struct {
	Turn      int       `json:"turn"`      // The number of the turn, from 1.
	ErrorCode Code      `json:"errorCode"` // The reason, for programs.
	Error     string    `json:"error"`     // The reason, for people.
	Time      time.Time `json:"time"`      // The time at which it was recorded, by the store's clock.
}

// Code is the reason, for programs, why a job ended without a result.
type Code string

// The codes of jobs that ended without a result.
const (
	CodeCallbackTimeout Code = "callback_timeout" // no result within CALLBACK_TIMEOUT of the turn's start
	CodeQueueTimeout    Code = "queue_timeout"    // no worker became free in time
	CodeHumanTimeout    Code = "human_timeout"    // no reply within HUMAN_TIMEOUT
	CodeSpawnFailed     Code = "spawn_failed"     // the CLI could not be started
	CodeNoCallback      Code = "exited_without_callback"
	CodeCrashed         Code = "cli_failed"      // the CLI exited with an error
	CodeOutputLimit     Code = "output_limit"    // the CLI printed more than the limit
	CodeStalled         Code = "stalled"         // the turn hung: see the kind's stall_timeout and tool_timeout
	CodeBudget          Code = "budget"          // the kind's spending limit for one turn was reached
	CodeBudgetExceeded  Code = "budget_exceeded" // a budget of the job or of the day is exhausted
	CodeGaveUp          Code = "claude_failed"   // Claude itself reported that it cannot do the job
	CodeInvalidResult   Code = "invalid_result"
	CodeKindGone        Code = "kind_missing"  // the job's version of its kind cannot be read
	CodeNoCallbacks     Code = "callbacks_off" // the kind needs callbacks, and the server accepts none (USE_CALLBACK_CLAUDE)
	CodeCancelled       Code = "cancelled"
	CodeRejected        Code = "rejected"        // a person rejected the change
	CodeWorkspace       Code = "workspace"       // a repository could not be cloned
	CodeFinalize        Code = "finalize_failed" // the change could not be published
)

// The codes of turns that ended at a rate limit of Claude's, which is not a failure of the job. The
// job has one in LastFailure while it waits for the end of the limit.
const (
	CodeUsageLimit Code = "usage_limit"  // the account's usage is exhausted
	CodeRateLimit  Code = "rate_limited" // too many requests at once
	CodeOverloaded Code = "overloaded"   // the model's API is overloaded
	CodeSignedOut  Code = "signed_out"   // the API rejects the key, or the sign-in has expired
)

// LimitCodes are the codes of Claude's rate limits.
var LimitCodes = [...]Code{CodeUsageLimit, CodeRateLimit, CodeOverloaded, CodeSignedOut}

// IsRateLimit reports whether c is the code of a rate limit.
func (c Code) IsRateLimit() bool { return slices.Contains(LimitCodes[:], c) }

// ReservedUserPrefix begins the names of the users under which Ringback acts on its own behalf. No
// caller may use such a name.
const ReservedUserPrefix = "ringback:"

// ReaderPrefix begins the name of the user under which Claude interprets another user's replies.
// The other user's id follows.
const ReaderPrefix = ReservedUserPrefix + "reader:"

// Interrupt is a person's request to stop part of a running turn without ending the job.
type Interrupt struct {
	Turn  int            `json:"turn"`                                      // The turn that was running.
	Scope InterruptScope `json:"scope" jsonschema:"enum=command,enum=turn"` // The part to stop.
	Done  bool           `json:"done,omitempty"`                            // True once the commands have been stopped.
	Time  time.Time      `json:"time"`                                      // The time at which it was requested.
}

// InterruptScope is the part of a turn that an interrupt stops.
type InterruptScope string

// The scopes.
const (
	InterruptCommand InterruptScope = "command" // the commands that Claude runs; the turn continues
	InterruptTurn    InterruptScope = "turn"    // the turn; the next one continues the conversation
)

// Interrupted returns the interrupt of the job's latest turn, or nil.
func (j Job) Interrupted() *Interrupt {
	if j.Interrupt == nil || j.Interrupt.Turn != j.Turn {
		return nil
	}
	return j.Interrupt
}

// CLIVersion is a version of the Claude CLI that ran turns of a job.
type CLIVersion struct {
	FromTurn int `json:"fromTurn"` // The first turn that it ran. It also ran the later ones, up to the next entry's.
	// Version is the output of the CLI's --version, never of a turn: such as 2.1.329, or simulated
	// for the stand-in, or unknown if the program gave no answer.
	Version string `json:"version"`
}

// The versions for a stand-in, and for a CLI that reports none.
const (
	CLISimulated = "simulated"
	CLIUnknown   = "unknown"
)

// CLIText lists the versions of the CLI that ran the job's turns: "2.1.329", or "2.1.329 (from turn
// 1), 2.1.330 (from turn 4)"; "" before the first turn.
func (j Job) CLIText() string {
	if len(j.CLIVersions) == 1 && j.CLIVersions[0].FromTurn == 1 {
		return j.CLIVersions[0].Version
	}
	texts := make([]string, len(j.CLIVersions))
	for i, v := range j.CLIVersions {
		texts[i] = fmt.Sprintf("%s (from turn %d)", v.Version, v.FromTurn)
	}
	return strings.Join(texts, ", ")
}
