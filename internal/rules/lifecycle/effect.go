package lifecycle

import (
	"encoding/json"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
)

// Effect is something that a commit does in addition to writing the changed records: a value of one of
// the types below. internal/store translates each into commands.
type Effect any

// Recipient identifies the receiver of events and messages.
type Recipient struct {
	UserID, SessionID string
	// EventPrefix is the prefix of event names.
	EventPrefix string
	// JobID is the job they are about; empty for a system outside Ringback.
	JobID job.ID
	// KindVersion is the version of the job's kind; empty without a job.
	KindVersion string
	// Simulated is true if the job is simulated.
	Simulated bool
	// Retention is the time that they are stored.
	Retention time.Duration
}

// Clock is a clock of a job or checkpoint.
type Clock string

// The clocks of a job, followed by those of a checkpoint.
const (
	CallbackClock Clock = "callback" // Claude must call back
	QueueClock    Clock = "queue"    // a worker must become free
	HumanClock    Clock = "human"    // a person must answer
	HoldClock     Clock = "hold"     // the asking call stops waiting
	RetryClock    Clock = "retry"    // the next attempt starts
	PurgeClock    Clock = "purge"    // the job is deleted

	LapseClock    Clock = "lapse"    // a checkpoint of a system outside Ringback expires
	ForgetClock   Clock = "forget"   // such a checkpoint is deleted
	ApprovalClock Clock = "approval" // the approval given at a checkpoint expires
)

// WaitingClocks lists the clocks that run while Claude, a worker or a person has to do something: after an
// outage of the store, all of them get more time.
var WaitingClocks = []Clock{CallbackClock, QueueClock, HumanClock, LapseClock}

// JobClocks lists the clocks of a job, except PurgeClock.
var JobClocks = []Clock{CallbackClock, QueueClock, HumanClock, HoldClock, RetryClock}

// The effects.
type (
	// Emit appends an event to the user's events with the user's next id, and publishes it.
	Emit struct {
		To   Recipient
		Type job.EventType
		Time time.Time
		// Data is a json.RawMessage, or a MessageData, which the store shortens.
		Data any
	}
	// PutMessage stores a message in a session.
	PutMessage struct {
		Session *Session
		Message job.Message
	}
	// TouchMessage marks a message as changed. Heard is set if Claude has read it.
	TouchMessage struct {
		Session *Session
		ID      int64
		Time    time.Time
		Heard   *job.Hearing
	}
	// MoveCall records the message that now shows a tool call, and the call's state, if that is not
	// the first message or the state has changed.
	MoveCall struct {
		Session *Session
		JobID   job.ID
		Call    string
		Message int64
		State   job.PartState
	}
	// SetCall stores the owner of a tool call.
	SetCall struct {
		JobID job.ID
		Call  string
		To    Call
	}

	// SetClock starts or restarts a clock. Ref is a job or a checkpoint.
	SetClock struct {
		Clock Clock
		Ref   string
		Due   time.Time
	}
	// StopClocks stops some clocks of a job or a checkpoint.
	StopClocks struct {
		Ref    string
		Clocks []Clock
	}

	// RotateSecret gives a job a new secret.
	RotateSecret struct {
		JobID  job.ID
		UserID string
		Secret job.Secret
		Time   time.Time
	}
	// KeepSecret sets how long a job's secret is valid.
	KeepSecret struct {
		JobID job.ID
		For   time.Duration
	}
	// DropSecret removes a job's secret.
	DropSecret struct{ JobID job.ID }

	// EnqueueTurn puts a job into the queue and wakes a worker. Turn is QueueEntry.Turn of a job that is put
	// back; 0 for a turn after those of all other users.
	EnqueueTurn struct {
		QueuePosition
		Turn int64
	}
	// DropEntry removes an entry from the queue for good.
	DropEntry struct {
		Priority job.Priority
		Entry    string
	}
	// OccupySlot fails the commit if the node does not own the queue entry, or if Limit jobs of the
	// user hold a worker.
	OccupySlot struct {
		Node     string
		Priority job.Priority
		Entry    string
		UserID   string
		Limit    int
	}
	// AwaitSlot fails the commit if fewer than Limit jobs of the user hold a worker.
	AwaitSlot struct {
		UserID string
		Limit  int
	}

	// AddTask schedules a task that acts outside the store, at least once. Notice is set if the
	// task is a notification; nil otherwise.
	AddTask struct {
		JobID  job.ID // selects the partition; empty for a checkpoint from outside
		Kind   TaskKind
		Ref    string
		Time   time.Time
		Notice *Notice
	}
	// AppendAudit appends to a job's audit log. Entry is a job.AuditEntry that State.audit has
	// chained to the previous one. Exactly these bytes are stored.
	AppendAudit struct {
		JobID job.ID
		Entry json.RawMessage
	}
	// Count adds to the counters of checkpoints.
	Count struct {
		Type job.CheckpointType
		What string
		By   int64
	}
	// CountSpent adds to a job's spending on a day.
	CountSpent struct {
		Time  time.Time
		JobID job.ID
		Cost  price.Nano
	}
	// CountDaily adds to a counter of a day: Spent is counted by kind, the other measures by class.
	CountDaily struct {
		Time    time.Time
		Measure Measure
		Of      string
		By      int64
	}

	// RememberKey stores the job that an idempotency key created. The commit fails if the key has
	// created another job in the meantime.
	RememberKey struct {
		UserID, Key string
		JobID       job.ID
		// Was is the earlier job of the key, which no longer exists; usually empty.
		Was job.ID
	}

	// AddStanding stores a standing approval.
	AddStanding struct{ Approval job.Approval }
	// RemoveStanding revokes a standing approval of a user.
	RemoveStanding struct{ UserID, ID string }

	// AppendAnswer appends a checkpoint that a person has answered to a job's answers.
	AppendAnswer struct {
		JobID  job.ID
		Answer job.Checkpoint
	}
	// CopyAnswers replaces the answers of a job with those of another.
	CopyAnswers struct{ JobID, From job.ID }

	// SaveChange stores parts of a job's captured change, as JSON by name.
	SaveChange struct {
		JobID job.ID
		Parts map[string]string
	}

	// KeepBatch stores one batch of a large result.
	KeepBatch struct {
		JobID job.ID
		Index int
		Batch Batch
	}
	// DropBatches removes the batches of a job.
	DropBatches struct{ JobID job.ID }

	// ForgetReports makes every further progress report count as new.
	ForgetReports struct{ JobID job.ID }
	// KeepKind stores the version of a kind for as long as a job's record names it.
	KeepKind struct {
		Version string
		// Definition is kind.Kind.Definition. If Stored is set, it is not sent, because it takes 20 KB:
		// then the commit fails if the version is no longer stored.
		Definition []byte
		Stored     bool
	}
)

// Batch is one batch of a large result, as stored.
type Batch struct {
	Digest string
	// Count is the number of items in the batch, and Total the number of all items when it arrived.
	Count, Total int
	Items        json.RawMessage
}

// QueuedSteer is a request for another round that is queued until the end of the turn.
type QueuedSteer struct {
	Reply job.Reply
	// By is the person or back end that asked.
	By job.Actor
}

// TaskKind is the kind of a task that acts outside the store.
type TaskKind string

// The kinds of tasks. The task's reference identifies its data.
const (
	TaskUnderstand TaskKind = "understand" // ask Claude to interpret a reply
	TaskRead       TaskKind = "read"       // apply the interpretation of a reply; the id is that of the job that interpreted it
	TaskContinue   TaskKind = "continue"   // create a job that follows one that has ended
	TaskResume     TaskKind = "resume"     // send the reply to the outside system that asked
	TaskWebhook    TaskKind = "webhook"    // notify a webhook about a job
	TaskSlack      TaskKind = "slack"      // notify a Slack channel about a job
)
