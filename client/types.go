package client

import "ringback/internal/job"

// What the API's records consist of. They are aliases: a field of type job.State is a State.
type (
	// Job is the record of a job. Result holds what Claude submitted once State is Received,
	// Checkpoint the question that an AwaitingApproval or AwaitingInput job asks, ErrorCode
	// and Error the reason why a job ended without a result.
	Job = job.Job
	// JobID identifies a job: the API's requestId.
	JobID = job.ID
	// State is a job's status; State.Terminal reports whether the job has ended.
	State = job.State
	// Phase says what goes on within a state.
	Phase = job.Phase
	// Options are wishes for one job.
	Options = job.Options
	// Simulation selects a stand-in for Claude.
	Simulation = job.Simulation
	// Priority orders jobs that wait for a worker.
	Priority = job.Priority
	// Activity is the latest progress of a job.
	Activity = job.Activity
	// ActivityType is what Claude says it is doing.
	ActivityType = job.ActivityType
	// Code is the reason, for programs, why a job ended without a result.
	Code = job.Code
	// Failure describes a turn that ended without a result.
	Failure = job.Failure
	// QueuePlace is a job's place in the queue.
	QueuePlace = job.QueuePlace
	// Usage is what a job has consumed.
	Usage = job.Usage
	// Word is a message that a person wrote to a job.
	Word = job.Word
	// Interrupt is a request to stop what a turn does.
	Interrupt = job.Interrupt
	// InterruptScope is what it ends.
	InterruptScope = job.InterruptScope
	// Hearing says whether Claude has read a message.
	Hearing = job.Hearing
	// HearingStatus is Hearing in a word.
	HearingStatus = job.HearingStatus
	// AuditHead is the end of a job's audit log.
	AuditHead = job.AuditHead
	// BulkAction is what Bulk can do to many jobs.
	BulkAction = job.BulkAction
	// CLIVersion is a version of the Claude CLI that ran turns of a job.
	CLIVersion = job.CLIVersion
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

// What Bulk does to each of at most MostInBulk jobs.
const (
	BulkCancel = job.BulkCancel
	BulkRetry  = job.BulkRetry
	MostInBulk = job.MostInBulk
)

// Questions to people and their answers.
type (
	// Checkpoint is a question to a person.
	Checkpoint = job.Checkpoint
	// CheckpointID identifies a checkpoint.
	CheckpointID = job.CheckpointID
	// CheckpointType is the sort of question.
	CheckpointType = job.CheckpointType
	// CheckpointStatus says whether a checkpoint waits.
	CheckpointStatus = job.CheckpointStatus
	// CheckpointProps are the known fields of Checkpoint.Props, to unmarshal it into.
	CheckpointProps = job.Props
	// GivenReply is the answer that a checkpoint has received.
	GivenReply = job.Reply
	// Decision is a yes or no.
	Decision = job.Decision
	// ApprovalScope says for how much a yes is.
	ApprovalScope = job.ApprovalScope
	// Approval is a standing approval.
	Approval = job.Approval
	// Covers is what a standing approval lets through.
	Covers = job.Covers
	// CoveredExample is one call that it would.
	CoveredExample = job.Example
	// Asked is what a question asks to be allowed, in parts.
	Asked = job.Asked
	// AskedField is one field of the input that it is about.
	AskedField = job.AskedField
	// Segment is a piece of a text with its source.
	Segment = job.Segment
	// SegmentSource says whose words a Segment is.
	SegmentSource = job.SegmentSource
	// AnswerProps words one of the two answers to a Confirmation.
	AnswerProps = job.AnswerProps
	// Preview is what an action would do.
	Preview = job.Preview
	// PreviewFormat says how its text is shown.
	PreviewFormat = job.PreviewFormat
	// Utterance is one message of the exchange about a question.
	Utterance = job.Utterance
	// Shown describes how a question was shown to the person who answers it.
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

// Open is the status of checkpoints that wait for a reply, Answered of those that have one.
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
	// MessageType says what a message is.
	MessageType = job.MessageType
	// Sender is the user or the assistant.
	Sender = job.Sender
	// Part is a piece of a message.
	Part = job.Part
	// PartType says what a part is.
	PartType = job.PartType
	// PartState says how far the call of a tool is.
	PartState = job.PartState
)

// Events.
type (
	// Seq is the id of an event; those of one user increase.
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
	EventCheckpoint = job.EventCheckpoint
	EventResolved   = job.EventResolved
	EventReceived   = job.EventReceived
	EventError      = job.EventError
	EventCancelled  = job.EventCancelled
	EventRejected   = job.EventRejected
)

// Errors.
type (
	// Error is a refusal of the server: Message says what is wrong, Details which fields, Hint
	// what to do. Get it with errors.As or errors.AsType[*client.Error].
	Error = job.Error
	// ErrorKind classifies errors, as their status does.
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
	// Diff is what a job changed in one repository.
	Diff = job.DiffOutput
	// FileDiff is one file of it.
	FileDiff = job.FileDiff
	// FileStatus says what became of a file.
	FileStatus = job.FileStatus
	// LeftOut counts what is not in a diff.
	LeftOut = job.LeftOut
	// VerifierOutput is the outcome of a verifier.
	VerifierOutput = job.VerifierOutput
	// Viewed are the files that a person has marked as viewed.
	Viewed = job.Viewed
	// ViewedFile is one of them.
	ViewedFile = job.ViewedFile
	// SteeringState says how often a change was steered.
	SteeringState = job.SteeringState
	// SteeringIteration is one round.
	SteeringIteration = job.SteeringIteration
)

// What operators see.
type (
	// Limit is a limit of Claude's that keeps jobs waiting.
	Limit = job.Limit
	// BudgetOf says what a budget is for.
	BudgetOf = job.BudgetOf
	// Day counts what happened on a day.
	Day = job.Day
	// DurationClass counts what took so long at most.
	DurationClass = job.Class
	// Examination is what Examine found in the store.
	Examination = job.Examination
	// Finding is one thing that does not fit.
	Finding = job.Finding
	// Notification is one that was not delivered.
	Notification = job.Notification
	// NotificationID identifies it.
	NotificationID = job.NotificationID
	// NotificationStatus says whether it is still tried.
	NotificationStatus = job.NotificationStatus
	// NotificationCount counts those of a receiver.
	NotificationCount = job.NotificationCount
	// Receiver is where notifications go.
	Receiver = job.Receiver
)
