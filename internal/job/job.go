package job

import (
	"encoding/json"
	"slices"
	"time"
)

// ID identifies a job. On the wire it is called requestId. It reads
// "req_<partition>_<random>"; only the store looks inside.
type ID string

// Job is the whole record of one piece of work of one kind for one user, as
// GET /api/jobs/:id shows it. Times are UTC.
type Job struct {
	// ID is the job's id; every callback of its Claude repeats it.
	ID ID `json:"requestId"`
	// Kind names the prompt, schemas and policy the job runs under.
	Kind string `json:"kind"`
	// KindVersion is the version of the kind under which the job began and ends: the hex
	// SHA-256 of what its prompt and schemas were.
	KindVersion string `json:"kindVersion"`
	// Title is what the kind calls the job, by its input; empty if the kind has no title. Values of the
	// input are literals: in quotes, with what is not seen as escapes.
	Title string `json:"title,omitempty"`
	// Tags are the words by which whoever asked for the job groups it with others, in their order.
	Tags []string `json:"tags,omitempty"`
	// UserID is the person the job belongs to; only they receive its events.
	UserID string `json:"userId"`
	// SessionID is the chat that the job's messages belong to.
	SessionID string `json:"sessionId"`
	// State is where the job stands, see State.
	State State `json:"status"`
	// Phase says what is going on within State; empty where there is nothing more to
	// say.
	Phase Phase `json:"phase,omitempty"`
	// PhaseUntil is until when it goes on at least: when the next attempt is made;
	// zero where that is not known.
	PhaseUntil time.Time `json:"phaseUntil,omitzero"`
	// Queue is what a job waits behind that waits for a worker; nil for any other.
	Queue *QueuePlace `json:"queue,omitempty"`
	// Simulated is whether a stand-in plays Claude, so that whatever is said and
	// submitted is made up: asked for by Options, or for want of a CLI.
	Simulated bool `json:"simulated,omitempty"`
	// Input is what was asked for, valid under the kind's input schema.
	Input json.RawMessage `json:"input" jsonschema:"type=object"`
	// Options are the caller's wishes for this job alone.
	Options Options `json:"options,omitzero"`
	// Activity is the latest progress that Claude reported; nil before the first.
	Activity *Activity `json:"activity,omitempty"`
	// Result is what Claude submitted, valid under the kind's result schema; nil
	// until it was accepted.
	Result json.RawMessage `json:"result,omitempty" jsonschema:"type=object"`
	// Submitted is whether this turn has submitted a change, which is to be captured
	// for review.
	Submitted bool `json:"-"`
	// Node is the node that ran the latest turn, and has the files of the job's
	// working directory; empty before the first.
	Node string `json:"-"`
	// Error says in words for a person why an expired, failed, rejected or
	// cancelled job ended.
	Error string `json:"error,omitempty"`
	// ErrorCode says the same for programs, see the Code constants.
	ErrorCode Code `json:"errorCode,omitempty"`
	// Checkpoint is the question the job waits at; nil when it does not wait.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	// Turn counts the turns started so far; the running one is the last.
	Turn int `json:"turn"`
	// Attempt counts turns in a row that ended without a result; at MaxAttempts the
	// job has failed.
	Attempt     int `json:"attempt,omitempty"`
	MaxAttempts int `json:"maxAttempts,omitempty"`
	// LastFailure is how the latest turn that failed ended; nil when none has. It
	// is kept while the job is tried again, and after it has succeeded.
	LastFailure *Failure `json:"lastFailure,omitempty"`
	// Words are the latest messages that people have written to the job, and whether Claude has
	// heard them: all that wait, and of the others the last.
	Words []Word `json:"words,omitempty"`
	// Interrupt is the latest request to stop what a turn does; nil for none.
	Interrupt *Interrupt `json:"interrupt,omitempty"`
	// CLIVersions are the versions of the Claude CLI that ran the turns, oldest first: the first one, and
	// then each change. Of more than 50, the latest are kept.
	CLIVersions []CLIVersion `json:"cliVersions,omitempty"`
	// Usage sums what all turns used.
	Usage Usage `json:"usage"`
	// BudgetUSD is what the job may cost in US dollars, over all attempts and rounds; 0: no
	// limit of its own.
	BudgetUSD float64 `json:"budgetUsd,omitempty"`
	// Audit is the end of its audit log, by which a log that was tampered with is known;
	// nil while nothing is in it.
	Audit *AuditHead `json:"audit,omitempty"`
	// CreatedAt is when the job was asked for.
	CreatedAt time.Time `json:"createdAt"`
	// UpdatedAt is when the record last changed.
	UpdatedAt time.Time `json:"updatedAt"`
	// Deadline is when the clock that runs now (callback or human) expires the
	// job; zero when none runs.
	Deadline time.Time `json:"deadline,omitzero"`
	// FinishedAt is when the job reached a terminal state; zero before.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Options are the caller's wishes for one job.
type Options struct {
	// Simulate asks for a stand-in instead of Claude, see Simulation.
	Simulate Simulation `json:"simulate,omitempty"`
	// Priority decides who goes first when workers are scarce; empty means the
	// kind's own.
	Priority Priority `json:"priority,omitempty"`
	// BudgetUSD is what the job may cost in US dollars; 0 means the kind's own budget. Only
	// back ends may ask for more than that.
	BudgetUSD float64 `json:"budgetUsd,omitempty" jsonschema:"minimum=0,maximum=10000"`
}

// Simulation selects a stand-in for Claude.
type Simulation string

const (
	// SimulateNone runs the configured Claude.
	SimulateNone Simulation = ""
	// SimulateManual starts nothing: a person plays Claude with curl.
	SimulateManual Simulation = "manual"
	// SimulateSuccess runs the simulated Claude, which succeeds.
	SimulateSuccess Simulation = "success"
	// SimulateRepair runs the simulated Claude, which first submits an invalid
	// result, reads the answer and repairs it.
	SimulateRepair Simulation = "repair"
	// SimulateFailure runs the simulated Claude, which reports that it cannot do
	// the job.
	SimulateFailure Simulation = "failure"
	// SimulateSilence runs the simulated Claude, which never calls back.
	SimulateSilence Simulation = "silence"
)

// Simulations lists every Simulation a caller may ask for by name.
var Simulations = [...]Simulation{SimulateManual, SimulateSuccess, SimulateRepair, SimulateFailure, SimulateSilence}

// Priority orders jobs that wait for a worker.
type Priority string

const (
	// Interactive jobs have a person waiting and go first.
	Interactive Priority = "interactive"
	// Batch jobs run when no interactive job waits, and now and then between.
	Batch Priority = "batch"
)

// ActivityType is what Claude says it is doing.
type ActivityType string

// The activity types; Querying is the default.
const (
	Thinking ActivityType = "thinking"
	Querying ActivityType = "querying"
	Results  ActivityType = "results"
)

// Activity is one progress report.
type Activity struct {
	// Message is what a person reads.
	Message string `json:"message"`
	// Type is the phase of the work.
	Type ActivityType `json:"type"`
	// Progress is the share done in percent, 0 to 100.
	Progress float64 `json:"progress"`
}

// Usage is what turns consumed: counted from the answers of the model's API by the server if
// it passes the requests on, or else as the CLI reports it.
type Usage struct {
	// InputTokens counts tokens read, cached ones included.
	InputTokens int64 `json:"inputTokens"`
	// OutputTokens counts tokens written.
	OutputTokens int64 `json:"outputTokens"`
	// CacheReadTokens and CacheWriteTokens are those of InputTokens that were read from the
	// cache and written to it.
	CacheReadTokens  int64 `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens int64 `json:"cacheWriteTokens,omitempty"`
	// CostUSD is what they cost in US dollars: by the table of prices, or else the CLI's own
	// estimate.
	CostUSD float64 `json:"costUsd"`
}

// Plus adds what one more turn used.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		CostUSD:          u.CostUSD + v.CostUSD,
	}
}

// Failure is how a turn ended that brought no result.
type Failure struct {
	// Turn is which one, from 1.
	Turn int `json:"turn"`
	// ErrorCode says for programs, Error for people what went wrong.
	ErrorCode Code   `json:"errorCode"`
	Error     string `json:"error"`
	// Time is when it was booked, by the store's clock.
	Time time.Time `json:"time"`
}

// Code says for programs why a job ended without a result.
type Code string

// The codes of jobs that ended without a result.
const (
	CodeCallbackTimeout Code = "callback_timeout" // no result within CALLBACK_TIMEOUT of the turn's start
	CodeQueueTimeout    Code = "queue_timeout"    // no worker became free in time
	CodeHumanTimeout    Code = "human_timeout"    // nobody answered within HUMAN_TIMEOUT
	CodeSpawnFailed     Code = "spawn_failed"     // the CLI could not be started
	CodeNoCallback      Code = "exited_without_callback"
	CodeCrashed         Code = "cli_failed"      // the CLI exited with an error
	CodeOutputLimit     Code = "output_limit"    // the CLI printed more than is kept
	CodeStalled         Code = "stalled"         // the turn hung: see stall_timeout and tool_timeout of its kind
	CodeBudget          Code = "budget"          // the kind's spending limit for one turn was reached
	CodeBudgetExceeded  Code = "budget_exceeded" // a budget of the job or of the day is used up
	CodeGaveUp          Code = "claude_failed"   // Claude itself reported that it cannot do the job
	CodeInvalidResult   Code = "invalid_result"
	CodeKindGone        Code = "kind_missing"  // the job's version of its kind cannot be read
	CodeNoCallbacks     Code = "callbacks_off" // the kind works by callbacks, and the server takes none (USE_CALLBACK_CLAUDE)
	CodeCancelled       Code = "cancelled"
	CodeRejected        Code = "rejected"        // a person rejected the change
	CodeWorkspace       Code = "workspace"       // a repository could not be cloned
	CodeFinalize        Code = "finalize_failed" // the change could not be published
)

// The codes of turns that ended at a limit of Claude's, which is no failure of their jobs.
// A job has one in LastFailure while it waits for the limit's end.
const (
	CodeUsageLimit Code = "usage_limit"  // what the account may use is used up
	CodeRateLimit  Code = "rate_limited" // too many requests at once
	CodeOverloaded Code = "overloaded"   // the model's API has no room
	CodeSignedOut  Code = "signed_out"   // the API does not know the key, or the sign-in has expired
)

// LimitCodes are the codes of limits of Claude's.
var LimitCodes = [...]Code{CodeUsageLimit, CodeRateLimit, CodeOverloaded, CodeSignedOut}

// IsLimit reports whether a code is that of a limit of Claude's.
func (c Code) IsLimit() bool { return slices.Contains(LimitCodes[:], c) }

// ReservedUserPrefix begins the names of users that no caller may be: what
// Ringback does on its own behalf belongs to them.
const ReservedUserPrefix = "ringback:"

// ReaderPrefix begins the name of the user for whom Claude reads another's
// replies: it is followed by that other's id.
const ReaderPrefix = ReservedUserPrefix + "reader:"
