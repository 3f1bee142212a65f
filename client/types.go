package client

import "ringback/internal/job"

// The types of the API's records. They are aliases: a field of type job.State is a State.
type (
	// Job is the record of a job. Result holds what Claude submitted once State is Received.
	// Checkpoint is the question of an AwaitingApproval or AwaitingInput job. ErrorCode and Error
	// are the reason why a job ended without a result.
	Job = job.Job
	// JobID identifies a job: the API's requestId.
	JobID = job.ID
	// State is a job's status; State.Terminal reports whether the job has ended.
	State = job.State
	// Phase is a step within a state.
	Phase = job.Phase
	// Options are settings for one job.
	Options = job.Options
	// Simulation selects a stand-in for Claude.
	Simulation = job.Simulation
	// Priority orders jobs that wait for a worker.
	Priority = job.Priority
	// Activity is the latest progress of a job.
	Activity = job.Activity
	// ActivityType is the type of activity that Claude reports.
	ActivityType = job.ActivityType
	// Code is the machine-readable reason why a job ended without a result.
	Code = job.Code
	// Failure describes a turn that ended without a result.
	Failure = job.Failure
	// QueuePlace is a job's place in the queue.
	QueuePlace = job.QueuePlace
	// Usage is the consumption of a job.
	Usage = job.Usage
	// Word is a message that a person sent to a job.
	Word = job.Word
	// Interrupt is a request to stop what a turn does.
	Interrupt = job.Interrupt
	// InterruptScope is the extent of an Interrupt: the commands or the turn.
	InterruptScope = job.InterruptScope
	// Hearing describes whether Claude has read a message.
	Hearing = job.Hearing
	// HearingStatus is the status of a Hearing.
	HearingStatus = job.HearingStatus
	// AuditHead is the end of a job's audit log.
	AuditHead = job.AuditHead
	// BulkAction is an action that Bulk can apply to many jobs.
	BulkAction = job.BulkAction
	// CLIVersion is a version of the Claude CLI that ran turns of a job.
	CLIVersion = job.CLIVersion
)

// Requests and answers.
type (
	// NewBulk is a request to apply an action to each of up to MostInBulk jobs.
	NewBulk = job.NewBulk
	// Outcomes is the response to Bulk.
	Outcomes = job.BulkOutcomes
	// Outcome is the outcome for one job. Error and Hint are empty if the action was applied to it.
	Outcome = job.BulkOutcome
	// Stats are counts over all users.
	Stats = job.Statistics
	// CheckpointStats counts questions and their outcomes.
	CheckpointStats = job.CheckpointStats
	// Created is the response to Create. If an earlier job had the same key, State is that job's state.
	Created = job.CreatedJob
	// Sent is the response to Say.
	Sent = job.SentMessage
	// Messages is a page of a session, oldest message first. NextAfter is 0 on the last page.
	Messages = job.MessagePage
	// Checkpoints is a page of checkpoints, newest first. NextCursor is empty on the last page.
	Checkpoints = job.CheckpointPage
	// Approvals are the standing approvals of a user.
	Approvals = job.ApprovalList
	// File is a file that a job created.
	File = job.FileView
	// Files are the files that a job created.
	Files = job.FileList
	// Kind is a kind of job.
	Kind = job.KindView
	// Action is something that the server can do for Claude.
	Action = job.ActionView
	// Kinds is a list of a server's kinds.
	Kinds = job.KindList
	// KindsReload names the kinds that differ after a server has loaded its files again.
	KindsReload = job.KindsReload
)

// The states.
const (
	Pending          = job.Pending
	Running          = job.Running
	AwaitingApproval = job.AwaitingApproval
	AwaitingInput    = job.AwaitingInput
	Received         = job.Received
	Cancelled        = job.Cancelled
	Rejected         = job.Rejected
	Expired          = job.Expired
	Failed           = job.Failed
)

// The actions of Bulk, and the maximum number of jobs per call.
const (
	BulkCancel = job.BulkCancel
	BulkRetry  = job.BulkRetry
	BulkMove   = job.BulkMove
	BulkAnswer = job.BulkAnswer
	MostInBulk = job.MostInBulk
)

// Questions to people and their answers.
type (
	// Checkpoint is a question to a person.
	Checkpoint = job.Checkpoint
	// CheckpointID identifies a checkpoint.
	CheckpointID = job.CheckpointID
	// CheckpointType is the type of a question.
	CheckpointType = job.CheckpointType
	// CheckpointStatus is the status of a checkpoint.
	CheckpointStatus = job.CheckpointStatus
	// CheckpointProps are the known fields of Checkpoint.Props; unmarshal it into this type.
	CheckpointProps = job.Props
	// GivenReply is the answer that a checkpoint has received.
	GivenReply = job.Reply
	// Decision is a yes or no.
	Decision = job.Decision
	// ApprovalScope is the extent of an approval.
	ApprovalScope = job.ApprovalScope
	// Approval is a standing approval.
	Approval = job.Approval
	// Covers describes what a standing approval allows.
	Covers = job.Covers
	// CoveredExample is one call that it would allow.
	CoveredExample = job.Example
	// Asked describes what a question asks approval for, in parts.
	Asked = job.Asked
	// AskedField is one field of the input in question.
	AskedField = job.AskedField
	// Segment is a piece of text with its source.
	Segment = job.Segment
	// SegmentSource is the source of a Segment.
	SegmentSource = job.SegmentSource
	// AnswerProps is the text of one of the two answers to a Confirmation.
	AnswerProps = job.AnswerProps
	// Preview shows what an action would do.
	Preview = job.Preview
	// PreviewFormat is the format of a preview's text.
	PreviewFormat = job.PreviewFormat
	// Utterance is one message of the conversation about a question.
	Utterance = job.Utterance
	// Shown describes how a question was displayed before it was answered.
	Shown = job.Shown
)

// The types of questions.
const (
	Review             = job.Review
	Confirmation       = job.Confirmation
	ToolApproval       = job.ToolApproval
	ErrorRecovery      = job.ErrorRecovery
	InformationRequest = job.InformationRequest
	FormRequirements   = job.FormRequirements
)

// Open is the status of checkpoints that wait for a reply; Answered of those that have one.
const (
	Open     = job.Open
	Answered = job.Answered
)

// The decisions.
const (
	Approve = job.Approve
	Deny    = job.Deny
	Cancel  = job.Cancel
)

// The chat.
type (
	// Message is an entry of a session's chat.
	Message = job.Message
	// MessageType is the type of a message.
	MessageType = job.MessageType
	// Sender is the user or the assistant.
	Sender = job.Sender
	// Part is a piece of a message.
	Part = job.Part
	// PartType is the type of a part.
	PartType = job.PartType
	// PartState is the progress of a tool call.
	PartState = job.PartState
)

// Events.
type (
	// Seq is the id of an event. The ids of one user's events increase.
	Seq = job.Seq
	// EventType is the last part of an event's name.
	EventType = job.EventType
)

// The types of events.
const (
	EventPending    = job.EventPending
	EventRunning    = job.EventRunning
	EventActivity   = job.EventActivity
	EventPartial    = job.EventPartial
	EventMessage    = job.EventMessage
	EventHeard      = job.EventHeard
	EventVersion    = job.EventVersion
	EventCheckpoint = job.EventCheckpoint
	EventResolved   = job.EventResolved
	EventReceived   = job.EventReceived
	EventError      = job.EventError
	EventCancelled  = job.EventCancelled
	EventRejected   = job.EventRejected
)

// Errors.
type (
	// Error is an error response of the server: Message describes the problem, Details the wrong
	// fields, and Hint what to do. Get it with errors.As or errors.AsType[*client.Error].
	Error = job.Error
	// ErrorKind classifies errors, as the HTTP status does.
	ErrorKind = job.ErrorKind
	// ErrorDetail is one wrong field.
	ErrorDetail = job.Detail
)

// The kinds of errors. Unavailable errors are temporary: the same request may succeed later.
const (
	Invalid      = job.Invalid
	Unauthorized = job.Unauthorized
	Forbidden    = job.Forbidden
	NotFound     = job.NotFound
	Conflict     = job.Conflict
	TooLarge     = job.TooLarge
	TooMany      = job.TooMany
	Unavailable  = job.Unavailable
	Internal     = job.Internal
)

// HasKind reports whether err is an Error of this kind.
func HasKind(err error, kind ErrorKind) bool { return job.HasKind(err, kind) }

// Changes of code.
type (
	// Diff contains a job's changes in one repository.
	Diff = job.DiffOutput
	// DiffPage selects a part of a Diff.
	DiffPage = job.DiffPage
	// FileDiff is one file of a Diff.
	FileDiff = job.FileDiff
	// FileStatus is the kind of change to a file.
	FileStatus = job.FileStatus
	// LeftOut describes a file that is not part of a change.
	LeftOut = job.LeftOut
	// VerifierOutput is the outcome of a verifier.
	VerifierOutput = job.VerifierOutput
	// Viewed lists the files that a person has marked as viewed.
	Viewed = job.Viewed
	// ViewedFile is one of these files.
	ViewedFile = job.ViewedFile
	// SteeringState contains how often a change was steered.
	SteeringState = job.SteeringState
	// SteeringIteration is one round of steering.
	SteeringIteration = job.SteeringIteration
	// Published is a commit of a job's change that is public, or may be.
	Published = job.Published
	// ApprovalOutcome describes the result of what was approved.
	ApprovalOutcome = job.Outcome
	// OutcomeStatus is the status of an ApprovalOutcome.
	OutcomeStatus = job.OutcomeStatus
	// FailedAction is something that was allowed and did not succeed.
	FailedAction = job.FailedAction
)

// Records for operators.
type (
	// Readiness describes whether a server can work, with warnings.
	Readiness = job.Readiness
	// JobCounts are the numbers of jobs by state and kind.
	JobCounts = job.Counts
	// Budget is today's (UTC) budget and how much of it has been spent.
	Budget = job.Budget
	// Quota contains the numbers of jobs of a kind that exist and that are allowed.
	Quota = job.QuotaView
	// Notifications are the notifications that have not been delivered.
	Notifications = job.NotificationList
	// Limit is a rate limit of Claude's that jobs are waiting for.
	Limit = job.Limit
	// BudgetOf is the subject of a budget: all jobs or a kind.
	BudgetOf = job.BudgetOf
	// Day contains the counts of one day.
	Day = job.Day
	// DurationClass is one class of a histogram of durations.
	DurationClass = job.Class
	// Examination is the report of Examine.
	Examination = job.Examination
	// Finding is one problem in the store.
	Finding = job.Finding
	// Notification is a notification that was not delivered.
	Notification = job.Notification
	// NotificationID identifies it.
	NotificationID = job.NotificationID
	// NotificationStatus is the status of a Notification.
	NotificationStatus = job.NotificationStatus
	// NotificationCount counts the undelivered notifications of a receiver.
	NotificationCount = job.NotificationCount
	// Receiver is a destination of notifications.
	Receiver = job.Receiver
)
