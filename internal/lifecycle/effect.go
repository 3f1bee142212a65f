package lifecycle

import (
	"encoding/json"
	"time"

	"ringback/internal/approval"
	"ringback/internal/job"
	"ringback/internal/price"
)

// Effect is something that a commit does beside writing the records that changed.
// The set is closed: internal/store translates each into commands.
type Effect interface{ effect() }

// Recipient is whose events and messages they are.
type Recipient struct {
	UserID, SessionID string
	// EventPrefix begins the names of events.
	EventPrefix string
	// JobID is the job they are about; empty for something outside Ringback.
	JobID job.ID
	// KindVersion is the version of the job's kind; empty without a job.
	KindVersion string
	// Simulated is whether the job is.
	Simulated bool
	// Retention is how long they are kept.
	Retention time.Duration
}

// Clock is one of the clocks that run for a job or a checkpoint.
type Clock string

// The clocks of a job, and behind them those of a checkpoint.
const (
	CallbackClock Clock = "callback" // Claude must call back
	QueueClock    Clock = "queue"    // a worker must become free
	HumanClock    Clock = "human"    // a person must answer
	HoldClock     Clock = "hold"     // the call that asked waits no longer
	RetryClock    Clock = "retry"    // the next attempt is made
	PurgeClock    Clock = "purge"    // the job is deleted

	LapseClock    Clock = "lapse"    // a checkpoint of something outside Ringback expires
	ForgetClock   Clock = "forget"   // such a checkpoint is deleted
	ApprovalClock Clock = "approval" // the approval that a checkpoint gave expires
)

// JobClocks are the clocks of a job, but PurgeClock.
var JobClocks = [...]Clock{CallbackClock, QueueClock, HumanClock, HoldClock, RetryClock}

// The effects.
type (
	// Emit appends an event to the user's and publishes it, with the next of the
	// user's ids.
	Emit struct {
		To   Recipient
		Type job.EventType
		Time time.Time
		Data json.RawMessage
	}
	// PutMessage stores a message of a session.
	PutMessage struct {
		Session   *Session
		Retention time.Duration
		Message   job.Message
	}
	// TouchMessage notes that a message has changed. Heard is set if Claude has heard it.
	TouchMessage struct {
		Session   *Session
		Retention time.Duration
		ID        int64
		Time      time.Time
		Heard     *job.Hearing
	}
	// MoveCall notes which message shows a call of a tool from now on, and in which state, if that
	// is not the first one, or the state has changed.
	MoveCall struct {
		Session   *Session
		Retention time.Duration
		Call      string
		Message   int64
		State     job.PartState
	}
	// SetCall stores who ends a call of a tool.
	SetCall struct {
		JobID job.ID
		Call  string
		To    Call
	}

	// SetClock starts a clock, or sets it anew; StopClock stops it. Ref is a job or a
	// checkpoint.
	SetClock struct {
		Clock Clock
		Ref   string
		Due   time.Time
	}
	// StopClock stops a clock.
	StopClock struct {
		Clock Clock
		Ref   string
	}
	// StopClocks stops all clocks of a job but PurgeClock.
	StopClocks struct{ JobID job.ID }

	// RotateSecret gives a job a new secret, KeepSecret lets the one it has live for
	// so long, DropSecret ends it.
	RotateSecret struct {
		JobID  job.ID
		UserID string
		Secret job.Secret
		Time   time.Time
	}
	// KeepSecret sets how long a job's secret lives.
	KeepSecret struct {
		JobID job.ID
		For   time.Duration
	}
	// DropSecret removes a job's secret.
	DropSecret struct{ JobID job.ID }

	// EnqueueTurn puts a job into the queue and wakes a worker.
	EnqueueTurn struct{ QueuePosition }
	// DropEntry takes an entry out of the queue for good.
	DropEntry struct {
		Priority job.Priority
		Entry    string
	}
	// HoldEntry fails the commit where the node does not hold the entry of the queue.
	HoldEntry struct {
		Node     string
		Priority job.Priority
		Entry    string
	}
	// HoldWorker counts a job among those of its user that run, and fails the commit
	// where there are Limit already.
	HoldWorker struct {
		JobID  job.ID
		UserID string
		Limit  int
	}
	// ReleaseWorker takes it out of them.
	ReleaseWorker struct {
		JobID  job.ID
		UserID string
	}
	// AwaitLimit puts a job among those of its user over the limit, in the place of
	// its queue entry.
	AwaitLimit struct {
		QueuePosition
		Entry string
	}
	// LeaveLimit takes it out of them.
	LeaveLimit struct {
		JobID  job.ID
		UserID string
	}

	// AddTask notes something to be done outside, at least once. Notice is what the outside
	// is told, if that is the task; nil else.
	AddTask struct {
		JobID  job.ID // of the partition; for a checkpoint of something outside, empty
		Kind   TaskKind
		Ref    string
		Time   time.Time
		Notice *Notice
	}
	// AppendAudit adds to a job's audit log. Entry is a job.AuditEntry, chained to the
	// one before by State.audit: what is stored are its very bytes.
	AppendAudit struct {
		JobID job.ID
		Entry json.RawMessage
	}
	// Count adds to the counts of checkpoints.
	Count struct {
		Type job.CheckpointType
		What string
		By   int64
	}
	// CountSpent adds to what a job has spent on a day.
	CountSpent struct {
		Time  time.Time
		JobID job.ID
		Cost  price.Nano
	}
	// CountDaily adds to the counts of a day: of Spent by kind, of the other measures by
	// class.
	CountDaily struct {
		Time    time.Time
		Measure Measure
		Of      string
		By      int64
	}

	// RememberKey keeps which job an idempotency key made; the commit fails where it
	// made another meanwhile.
	RememberKey struct {
		UserID, Key string
		JobID       job.ID
		// Was is the job that the key made before, which is gone; mostly empty.
		Was job.ID
	}

	// AddPending keeps a message for a job's next turn, TrimPending drops the first N,
	// MovePending hands all to another job.
	AddPending struct {
		JobID     job.ID
		Message   int64
		Retention time.Duration
	}
	// DropPending drops one of the messages that a job's next turn would be told.
	DropPending struct {
		JobID   job.ID
		Message int64
	}
	// TrimPending drops the first N messages that a job's next turn would be told.
	TrimPending struct {
		JobID job.ID
		N     int
	}
	// MovePending hands those messages to another job.
	MovePending struct {
		From, To  job.ID
		Retention time.Duration
	}

	// StartAsking puts a new checkpoint to its session.
	StartAsking struct{ Checkpoint *Checkpoint }
	// StopAsking takes a checkpoint out of those to which a message of its session may
	// reply.
	StopAsking struct{ Checkpoint *Checkpoint }

	// GrantApproval keeps a decision until it is used; SpendApproval uses it up.
	GrantApproval struct {
		JobID    job.ID
		Key      string
		Decision approval.Decision
	}
	// SpendApproval removes a decision.
	SpendApproval struct {
		JobID job.ID
		Key   string
	}
	// DropApprovals removes all decisions of a job that nobody has used.
	DropApprovals struct{ JobID job.ID }
	// AddStanding keeps an approval that goes on standing; with a job, as long as that.
	AddStanding struct {
		Approval job.Approval
		JobID    job.ID
	}
	// RemoveStanding revokes those of a user that go with a job.
	RemoveStanding struct {
		UserID string
		JobID  job.ID
		IDs    []string
	}

	// StartRun stores a new run of an action, which gives a sign of life within Lease.
	StartRun struct {
		Run   *Run
		Lease time.Time
	}
	// SaveRun stores how a run ended.
	SaveRun struct{ Run *Run }
	// ForgetRun lets the same call start another run.
	ForgetRun struct {
		JobID       job.ID
		ApprovalKey string
	}

	// SaveChange stores parts of what was captured of a job's change, JSON by name.
	SaveChange struct {
		JobID job.ID
		Parts map[string]string
	}

	// KeepBatch stores one batch of a large result, DropBatches removes all.
	KeepBatch struct {
		JobID job.ID
		Index int
		Batch Batch
	}
	// DropBatches removes the batches of a job.
	DropBatches struct{ JobID job.ID }

	// QueueSteer keeps a steer until the end of the turn; DequeueSteer takes the
	// oldest.
	QueueSteer struct {
		JobID job.ID
		Steer QueuedSteer
	}
	// DequeueSteer removes the oldest steer that waits.
	DequeueSteer struct{ JobID job.ID }

	// ForgetReports lets every progress report be a new one.
	ForgetReports struct{ JobID job.ID }
	// KeepKind stores the version of a kind for as long as a job needs it.
	KeepKind struct {
		JobID   job.ID
		Version string
		// Definition is kind.Kind.Definition.
		Definition []byte
	}
	// DeleteJob removes all that is stored for a job.
	DeleteJob struct{ Job *Job }
)

func (Emit) effect()           {}
func (PutMessage) effect()     {}
func (TouchMessage) effect()   {}
func (MoveCall) effect()       {}
func (SetCall) effect()        {}
func (SetClock) effect()       {}
func (StopClock) effect()      {}
func (StopClocks) effect()     {}
func (RotateSecret) effect()   {}
func (KeepSecret) effect()     {}
func (DropSecret) effect()     {}
func (EnqueueTurn) effect()    {}
func (DropEntry) effect()      {}
func (HoldEntry) effect()      {}
func (HoldWorker) effect()     {}
func (ReleaseWorker) effect()  {}
func (AwaitLimit) effect()     {}
func (LeaveLimit) effect()     {}
func (AddTask) effect()        {}
func (AppendAudit) effect()    {}
func (Count) effect()          {}
func (CountSpent) effect()     {}
func (CountDaily) effect()     {}
func (RememberKey) effect()    {}
func (AddPending) effect()     {}
func (DropPending) effect()    {}
func (TrimPending) effect()    {}
func (MovePending) effect()    {}
func (StartAsking) effect()    {}
func (StopAsking) effect()     {}
func (GrantApproval) effect()  {}
func (SpendApproval) effect()  {}
func (DropApprovals) effect()  {}
func (AddStanding) effect()    {}
func (RemoveStanding) effect() {}
func (StartRun) effect()       {}
func (SaveRun) effect()        {}
func (ForgetRun) effect()      {}
func (SaveChange) effect()     {}
func (KeepBatch) effect()      {}
func (DropBatches) effect()    {}
func (QueueSteer) effect()     {}
func (DequeueSteer) effect()   {}
func (ForgetReports) effect()  {}
func (KeepKind) effect()       {}
func (DeleteJob) effect()      {}

// Batch is one batch of a large result, as it is stored.
type Batch struct {
	Digest string
	// Count is how many items it holds, Total how many there were in all when it came.
	Count, Total int
	Items        json.RawMessage
}

// QueuedSteer is a request for another round that waits for the end of the turn.
type QueuedSteer struct {
	Reply job.Reply
	// By is who asks.
	By job.Actor
}

// TaskKind says what is to be done outside.
type TaskKind string

// The kinds of tasks. Each names, with its reference, where its facts stand.
const (
	TaskUnderstand TaskKind = "understand" // ask Claude what a reply means
	TaskRead       TaskKind = "read"       // use what Claude made of a reply; the id is the job that read it
	TaskContinue   TaskKind = "continue"   // let a job follow one that has ended
	TaskResume     TaskKind = "resume"     // tell whoever asked from outside what the reply is
	TaskWebhook    TaskKind = "webhook"    // tell a webhook of a job
	TaskSlack      TaskKind = "slack"      // tell a Slack channel of a job
)
