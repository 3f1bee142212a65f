package lifecycle

import "ringback/internal/job"

// EventRow is one row of the table of events.
type EventRow struct {
	Type job.EventType
	// When is the occasion of the event, and Tells a description of its data, both in Markdown.
	When, Tells string
	// Data is an example value of its data.
	Data any
}

// Events lists every event that clients receive.
var Events = [...]EventRow{
	{job.EventPending, "the job waits for a worker, or what it waits for has changed", stateTells, stateData{}},
	{job.EventRunning, "a turn is running, or its phase has changed", stateTells, stateData{}},
	{job.EventActivity, "Claude reported progress", "`{message, type, progress}`", job.Activity{}},
	{job.EventPartial, "a batch of a large result arrived", "`{suggestions, total}`", partialData{}},
	{job.EventReceived, "the result was accepted: fetch the job", "`{suggestionId, received}`", receivedData{}},
	{job.EventError, "the job expired or failed", "`{suggestionId, error, errorCode}`", errorData{}},
	{job.EventMessage, "the chat has a new message", "`{action, status, sessionId, message}`", MessageData{}},
	{
		job.EventHeard, "Claude has read a message that waited",
		"`{sessionId, messageId, hearing, turn, beforeToolCall, heardAt}`",
		heardData{},
	},
	{job.EventCheckpoint, "a person is asked a question", "the checkpoint", job.Checkpoint{}},
	{
		job.EventResolved, "a question no longer waits: it was answered or withdrawn, or its job has ended", "the checkpoint",
		job.Checkpoint{},
	},
	{
		job.EventAction,
		"an action has ended; or a tool call or the publication of a change that a person has allowed; or it is certain that what was allowed will not run",
		"`{action, tool, outcome, message, reported, checkpointId, runId}`; `outcome` is `succeeded`, `failed`, `timed_out`, `unknown`, `refused` or `not_run` ([what they mean](people.md#what-came-of-a-yes))",
		actionData{},
	},
	{
		job.EventVersion, "the job moves to another version of its kind with its next turn, or has moved",
		"`{kindVersion, nextKindVersion}`",
		versionData{},
	},
	{job.EventCancelled, "the job was cancelled", "`{status}`", stateData{}},
	{job.EventRejected, "a person rejected the change", "`{status}`", stateData{}},
}

const stateTells = "`{status, phase}`, such as `queued`, `claude`, `verifying` ([all phases](architecture.md#the-states-of-a-job)); when a turn starts over, also `turn`, `attempt`, `maxAttempts`, `lastFailure`, and `phaseUntil` before the next attempt"
