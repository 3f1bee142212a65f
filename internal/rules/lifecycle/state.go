package lifecycle

import (
	"context"
	"time"

	"ringback/internal/job"
)

// Store loads what a decision needs and commits what was decided. internal/store is the only
// implementation; rules are tested without it.
type Store interface {
	// Load reads what a query asks for, all at the same time. What does not exist is nil.
	Load(ctx context.Context, q Query) (*State, error)
	// Commit writes the changes and effects of a state, all or none, and once for each CommitID. It
	// returns false if anything that was loaded has changed since. Error: Unavailable. It is also returned, together with
	// true, if the data was written but State.Durable cannot be satisfied.
	Commit(ctx context.Context, st *State) (bool, error)
	// Get returns a job as people see it. Error: NotFound.
	Get(ctx context.Context, id job.ID) (job.Job, error)
	// Reserve records that a job is about to be opened, and returns the earlier reservations.
	Reserve(ctx context.Context, o Opening) (Reservation, error)
	// Release removes a reservation.
	Release(ctx context.Context, o Opening)
	// CountJobs counts the jobs of a kind and a user, "" for all, since the beginning of a day. Openings count
	// as if they were committed.
	CountJobs(ctx context.Context, kind, user string, day time.Time, openings []Opening) (job.Count, error)
	// SpentToday returns what was spent today by a user, on a kind and in total.
	SpentToday(ctx context.Context, kind, user string) (job.Spending, error)
	// KindDefinition returns the definition that KeepKind has stored for a job, or nil.
	KindDefinition(ctx context.Context, id job.ID, version string) ([]byte, error)
	// NewID returns an id with one of job's prefixes, for an object of a user.
	NewID(word, userID string) string
}

// Query describes what to load. Each part that is set is loaded if it exists.
type Query struct {
	// Job is the job that the command is about. Its session, the checkpoint that it waits at, the
	// calls that its chat shows and its clocks are loaded with it.
	Job job.ID
	// Checkpoint is loaded instead of the one that the job waits at, together with its job and the
	// job that interprets the reply to it.
	Checkpoint job.CheckpointID
	// UserID and SessionID identify a chat, if it has no job yet. UserID determines the partition
	// if no id does.
	UserID, SessionID string
	// Before is the job that the new one follows.
	Before job.ID
	// IdempotencyKey is looked up for UserID.
	IdempotencyKey string
	// Interpreted is the checkpoint whose reply the new job interprets.
	Interpreted job.CheckpointID
	// KindVersion is the version of a kind to check: whether it is stored.
	KindVersion string
	// Run is a run of an action of Job.
	Run RunID
	// ApprovalKey selects a decision, or a run of an action.
	ApprovalKey string
	// Approvals is true to load the decision that the checkpoint is about.
	Approvals bool
	// Batches is true to count the batches of the result. Batch is the index of one of them, or 0.
	Batches bool
	Batch   int
	// Latest is true to load the latest job of the session.
	Latest bool
	// Question is true to load the checkpoint of the job's latest question.
	Question bool
	// Clock is a clock of Job, or else of Checkpoint.
	Clock Clock
	// Running is true to count the workers that the user's jobs have.
	Running bool
	// View is true to load Job as people see it.
	View bool
	// RecordOnly is true to load nothing of Job except its record: for commands that neither write
	// to the chat nor stop a clock.
	RecordOnly bool
	// Waiting is true to load the jobs over the limit of each user whose job is loaded. It is set for a
	// command whose decision turns out to need them.
	Waiting bool
	// Entry is a queue entry to check: whether EntryOwner owns it, or, if that is empty, any node.
	Entry      QueueEntry
	EntryOwner string
	// Pending is true to load the messages for the next turn, and the answers that the running one may
	// not have received.
	Pending bool
	// Answers is true to load all answers to Job.
	Answers bool
	// Belongings is true to load what is deleted with the job.
	Belongings bool
}

// State is the basis of a command's decision: the loaded data, all read at the same time, and the
// command's changes to it.
type State struct {
	// CommitID identifies the command's commit. A commit that is sent again because its response was
	// lost is recognized by it, whatever has been committed since, and is not applied twice.
	CommitID string
	// Durable is true if the commit waits until replicas also have the data that the decision is
	// based on: see runDurably.
	Durable bool
	// Partition identifies the partition; only the store interprets it.
	Partition string
	// Now is the current time, by the store's clock.
	Now time.Time
	// Grace is the time for which no deadline counts as passed because the store was unavailable; usually 0.
	Grace time.Duration
	// Until is the time, by the store's clock, after which the commit is refused; zero for none.
	Until time.Time
	// Job is the job that the command is about, or nil.
	Job *Job
	// Checkpoint is the requested checkpoint, or else the one that Job waits at.
	Checkpoint Part[*Checkpoint]
	// Checkpoints are more checkpoints that decisions open or change.
	Checkpoints []*Checkpoint
	// Session is the chat of Job, or else the requested one.
	Session Part[*Session]
	// Latest is the latest job of the session.
	Latest Part[*Job]
	// Before is the job that the new one follows.
	Before Part[*Job]
	// Follower is the job that continues when Job's process has exited. Interpreter is the job that
	// interprets the reply to Checkpoint.
	Follower, Interpreter *Job
	// Followed is the job of Jobs that another will follow because of the command.
	Followed *Job
	// Waiting are the jobs over the limit, by user.
	Waiting Part[map[string]*Line]
	// Known is the job of the idempotency key.
	Known Part[KnownJob]
	// Interpreted is the checkpoint whose reply the new job interprets. Asked is the checkpoint of
	// Job's latest question. Earlier is the checkpoint of the requested decision.
	Interpreted, Asked, Earlier Part[*Checkpoint]
	// Allowed are the checkpoints at which people have allowed something of Job that is not over yet.
	Allowed Part[[]*Checkpoint]
	// KindStored is true if the requested version of a kind is stored.
	KindStored Part[bool]
	// EntryOwned is true if the requested queue entry is owned.
	EntryOwned Part[bool]
	// Due is the expiry of the requested clock; zero if it is not set.
	Due Part[time.Time]
	// Run is the requested run.
	Run Part[*Run]

	// Conclusions are the outcomes that the command records, for the logs and metrics of this node.
	Conclusions []Conclusion
	// Effects are the actions of the commit in addition to writing the changed records, in order.
	Effects []Effect
}

// Line are a user's jobs over the limit, in the order in which they will start.
type Line struct {
	Jobs []*Job
	// IDs are the first of the line. The commit is refused if others are the first by then.
	IDs []string
}

// KnownJob is the job that an idempotency key has created. Job is nil if it no longer exists.
type KnownJob struct {
	ID  job.ID
	Job *Job
}

// Job is a job with the data stored under its id.
type Job struct {
	Record
	// Loaded is the record as loaded; empty for a new job. The commit writes the difference.
	Loaded Record
	// Deleted is set if the commit removes the job.
	Deleted *Belongings

	// View is the job as people saw it when it was loaded.
	View Part[job.Job]
	// Session is its chat.
	Session Part[*Session]
	// Secret is empty if it has expired.
	Secret Part[job.Secret]
	// Calls are the tool calls in its chat.
	Calls Part[map[string]Call]
	// Pending are its PendingMessages, except those that are no longer stored.
	Pending Part[[]job.Message]
	// Answers are the checkpoints that a person has answered, in order, with those of the jobs whose
	// conversation it continues. Unread are those among them that UnreadReplies names.
	Answers, Unread Part[[]job.Checkpoint]
	// Batches are the accepted parts of a large result.
	Batches Part[Batches]
	// Belongings are deleted with the job.
	Belongings Part[*Belongings]
	// UserRunning counts the workers that its user's jobs have.
	UserRunning Part[int]
}

// Belongings are the checkpoints and the runs of actions of a job.
type Belongings struct {
	Checkpoints []*Checkpoint
	Runs        []RunID
}

// Batches count the batches of a large result, their items, and the bytes of these.
type Batches struct {
	Count, Items, Bytes int
	// Requested is the batch that the query asks for, or nil.
	Requested *Batch
}
