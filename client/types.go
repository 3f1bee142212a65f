package client

import "ringback/internal/job"

// The types of the API's records. They are aliases: a field of type job.State is a State.
type (
	// Job is the record of a job. Result holds what Claude submitted once State is Received.
	// Checkpoint is the question of an AwaitingApproval or AwaitingInput job. ErrorCode and Error
	// are the reason why a job ended without a result.
	Job            = job.Job
	JobID          = job.ID             // id of a job: the API's requestId
	State          = job.State          // status of a job; State.Terminal reports whether the job has ended
	Phase          = job.Phase          // step within a state
	Options        = job.Options        // settings for one job
	Simulation     = job.Simulation     // stand-in for Claude
	Priority       = job.Priority       // order of jobs that wait for a worker
	Activity       = job.Activity       // latest progress of a job
	ActivityType   = job.ActivityType   // type of activity that Claude reports
	Code           = job.Code           // machine-readable reason why a job ended without a result
	Failure        = job.Failure        // turn that ended without a result
	QueuePlace     = job.QueuePlace     // place of a job in the queue
	Usage          = job.Usage          // consumption of a job
	Word           = job.Word           // message that a person sent to a job
	Interrupt      = job.Interrupt      // request to stop what a turn does
	InterruptScope = job.InterruptScope // extent of an Interrupt: the commands or the turn
	Hearing        = job.Hearing        // whether Claude has read a message
	HearingStatus  = job.HearingStatus  // status of a Hearing
	AuditHead      = job.AuditHead      // end of a job's audit log
	BulkAction     = job.BulkAction     // action that Bulk can apply to many jobs
	CLIVersion     = job.CLIVersion     // version of the Claude CLI that ran turns of a job
)

// Requests and answers.
type (
	NewBulk         = job.NewBulk         // request to apply an action to each of up to MostInBulk jobs
	Outcomes        = job.BulkOutcomes    // response to Bulk
	Outcome         = job.BulkOutcome     // outcome for one job. Error and Hint are empty if the action was applied to it
	Stats           = job.Statistics      // counts over all users
	CheckpointStats = job.CheckpointStats // counts of questions and their outcomes
	Created         = job.CreatedJob      // response to Create. If an earlier job had the same key, State is that job's state
	Sent            = job.SentMessage     // response to Say
	Messages        = job.MessagePage     // page of a session, oldest message first. NextAfter is 0 on the last page
	Checkpoints     = job.CheckpointPage  // page of checkpoints, newest first. NextCursor is empty on the last page
	Approvals       = job.ApprovalList    // standing approvals of a user
	File            = job.FileView        // file that a job created
	Files           = job.FileList        // files that a job created
	Kind            = job.KindView        // kind of job
	Action          = job.ActionView      // something that the server can do for Claude
	Kinds           = job.KindList        // kinds of a server
	KindsReload     = job.KindsReload     // kinds that differ after a server has loaded its files again
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
	Checkpoint       = job.Checkpoint       // question to a person
	CheckpointID     = job.CheckpointID     // id of a checkpoint
	CheckpointType   = job.CheckpointType   // type of a question
	CheckpointStatus = job.CheckpointStatus // status of a checkpoint
	CheckpointProps  = job.Props            // known fields of Checkpoint.Props; unmarshal it into this type
	GivenReply       = job.Reply            // answer that a checkpoint has received
	Decision         = job.Decision         // yes or no
	ApprovalScope    = job.ApprovalScope    // extent of an approval
	Approval         = job.Approval         // standing approval
	Covers           = job.Covers           // what a standing approval allows
	CoveredExample   = job.Example          // call that it would allow
	Asked            = job.Asked            // what a question asks approval for, in parts
	AskedField       = job.AskedField       // one field of the input in question
	Segment          = job.Segment          // piece of text with its source
	SegmentSource    = job.SegmentSource    // source of a Segment
	AnswerProps      = job.AnswerProps      // text of one of the two answers to a Confirmation
	Preview          = job.Preview          // what an action would do
	PreviewFormat    = job.PreviewFormat    // format of a preview's text
	Utterance        = job.Utterance        // one message of the conversation about a question
	Shown            = job.Shown            // how a question was displayed before it was answered
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
	Message     = job.Message     // entry of a session's chat
	MessageType = job.MessageType // type of a message
	Sender      = job.Sender      // the user or the assistant
	Part        = job.Part        // piece of a message
	PartType    = job.PartType    // type of a part
	PartState   = job.PartState   // progress of a tool call
)

// Events.
type (
	Seq       = job.Seq       // id of an event. The ids of one user's events increase
	EventType = job.EventType // last part of an event's name
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
	Error       = job.Error
	ErrorKind   = job.ErrorKind // class of an error, as in the HTTP status
	ErrorDetail = job.Detail    // one wrong field
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
	Diff              = job.DiffOutput        // changes of a job in one repository
	DiffPage          = job.DiffPage          // part of a Diff
	FileDiff          = job.FileDiff          // one file of a Diff
	FileStatus        = job.FileStatus        // kind of change to a file
	LeftOut           = job.LeftOut           // file that is not part of a change
	VerifierOutput    = job.VerifierOutput    // outcome of a verifier
	Viewed            = job.Viewed            // files that a person has marked as viewed
	ViewedFile        = job.ViewedFile        // one of these files
	SteeringState     = job.SteeringState     // how often a change was steered
	SteeringIteration = job.SteeringIteration // one round of steering
	Published         = job.Published         // commit of a job's change that is public, or may be
	ApprovalOutcome   = job.Outcome           // result of what was approved
	OutcomeStatus     = job.OutcomeStatus     // status of an ApprovalOutcome
	FailedAction      = job.FailedAction      // something that was allowed and did not succeed
)

// Records for operators.
type (
	Readiness          = job.Readiness          // whether a server can work, with warnings
	JobCounts          = job.Counts             // numbers of jobs by state and kind
	Budget             = job.Budget             // today's (UTC) budget and how much of it has been spent
	Quota              = job.QuotaView          // numbers of jobs of a kind that exist and that are allowed
	Notifications      = job.NotificationList   // notifications that have not been delivered
	Limit              = job.Limit              // rate limit of Claude's that jobs are waiting for
	BudgetOf           = job.BudgetOf           // subject of a budget: all jobs or a kind
	Day                = job.Day                // counts of one day
	DurationClass      = job.Class              // one class of a histogram of durations
	Examination        = job.Examination        // report of Examine
	Finding            = job.Finding            // one problem in the store
	StoreFormat        = job.StoreFormat        // format of the store, and what of an upgrade is left to do
	StoreStep          = job.StoreStep          // step of an upgrade of the store
	StoreServer        = job.StoreServer        // server that uses the store
	OlderForm          = job.OlderForm          // something that is stored in an older form
	Notification       = job.Notification       // notification that was not delivered
	NotificationID     = job.NotificationID     // id of a Notification
	NotificationStatus = job.NotificationStatus // status of a Notification
	NotificationCount  = job.NotificationCount  // number of undelivered notifications of a receiver
	Receiver           = job.Receiver           // destination of notifications
)
