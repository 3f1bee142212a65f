package lifecycle

import (
	"context"
	"time"

	"ringback/internal/approval"
	"ringback/internal/job"
)

// Store loads what a decision needs and commits what was decided. internal/store is
// the one implementation; rules are tested without it.
type Store interface {
	// Load reads at one moment what a query asks for. What does not exist is nil.
	Load(ctx context.Context, q Query) (*State, error)
	// Commit writes the changes and effects of a state, all or none. It returns false
	// where anything that was loaded has changed since. Error: Unavailable, also with true
	// where it was written, and State.Promised cannot be kept.
	Commit(ctx context.Context, st *State) (bool, error)
	// Get returns a job as people see it. Error: NotFound.
	Get(ctx context.Context, id job.ID) (job.Job, error)
	// Reserve notes that a job is about to be opened, and returns those that were noted before.
	Reserve(ctx context.Context, o Opening) (Reservation, error)
	// Release forgets a reservation.
	Release(ctx context.Context, o Opening)
	// CountJobsOfUser and CountJobsOfKind count jobs since a day began. Openings count as if
	// they were committed.
	CountJobsOfUser(ctx context.Context, user string, day time.Time, openings []Opening) (job.Count, error)
	CountJobsOfKind(ctx context.Context, kind string, day time.Time, openings []Opening) (job.Count, error)
	// KindDefinition returns what KeepKind has stored for a job; nil for nothing.
	KindDefinition(ctx context.Context, id job.ID, version string) ([]byte, error)
	// NewID returns an id that begins with one of job's words, for something of a user's.
	NewID(word, userID string) string
	// RememberSession notes whose session a name is, for those who name no user.
	RememberSession(ctx context.Context, sessionID, userID string) error
}

// Query says what to load. Each part that is set is loaded as far as it exists.
type Query struct {
	// Job is the job that the command is about. With it come its session, the
	// checkpoint that it waits at, the calls that its chat shows and its clocks.
	Job job.ID
	// Checkpoint is loaded in place of the one that the job waits at; with its job, and
	// the job that interprets the reply to it.
	Checkpoint job.CheckpointID
	// UserID and SessionID are a chat, where no job is in it yet.
	UserID, SessionID string
	// Before is the job that the new one follows.
	Before job.ID
	// IdempotencyKey is looked up for UserID.
	IdempotencyKey string
	// Interpreted is the checkpoint whose reply the new job interprets.
	Interpreted job.CheckpointID
	// Run is a run of an action of Job.
	Run RunID
	// ApprovalKey is what a decision, or a run of an action, is looked up for.
	ApprovalKey string
	// Approvals is whether the decision is looked up that the checkpoint is about.
	Approvals bool
	// Batches is whether the batches of the result are counted, Batch the index of one
	// of them, 0 for none.
	Batches bool
	Batch   int
	// Latest is whether the latest job of the session is loaded.
	Latest bool
	// Question is whether the checkpoint is loaded that the job has asked last.
	Question bool
	// Clock is a clock of Job, or else of Checkpoint.
	Clock Clock
	// Running is whether the workers that the job's user holds are counted.
	Running bool
	// RecordOnly is whether nothing of Job is loaded but its record: for commands that
	// neither write to the chat nor stop a clock.
	RecordOnly bool
	// Home is the user whose share of the store is meant where no id says it.
	Home string
	// Waiting is whether the jobs of the user that are over the limit are loaded.
	Waiting bool
	// Entry is an entry of the queue, of which it is looked up whether Holder has it, or
	// anybody where Holder is empty.
	Entry  Taken
	Holder string
	// Steers is whether the steers that wait for the end of the turn are loaded.
	Steers bool
	// Pending is whether the messages are loaded that the next turn is told.
	Pending bool
	// Everything is whether the names of all that is stored for the job are loaded, so
	// that it can be deleted.
	Everything bool
}

// State is what a command decides on: what was loaded, and what it has changed of
// it. Everything was read at one moment.
type State struct {
	// CommitID names the commit, so that who has lost its answer knows it again.
	CommitID string
	// Promised is whether the commit waits until replicas have what the decision rests on,
	// too: see promise.
	Promised bool
	// Place is where the store keeps it all; only the store looks inside.
	Place string
	// Now is the store's time.
	Now time.Time
	// Until is the store's time after which nothing is committed; zero: any.
	Until time.Time
	// Job is the job that the command is about; nil where there is none.
	Job *Job
	// Checkpoint is the one that was asked for, else the one that Job waits at.
	Checkpoint *Checkpoint
	// Checkpoints are the further ones that decisions open or change.
	Checkpoints []*Checkpoint
	// Session is the chat of Job, else the one that was asked for.
	Session *Session
	// Latest is the latest job of the session.
	Latest *Job
	// Before is the job that the new one follows, Follower the one that goes on when
	// Job's process is gone, Interpreter the one that interprets the reply to
	// Checkpoint.
	Before, Follower, Interpreter *Job
	// Waiting are jobs of the user over the limit, in the order of their turn.
	Waiting []*Job
	// Known is the job of the idempotency key, KnownID its id, also where it is gone.
	Known   *Job
	KnownID job.ID
	// Interpreted is the checkpoint whose reply the new job interprets, Asked the one
	// that Job has asked last, Earlier that of the decision that is looked up.
	Interpreted, Asked, Earlier *Checkpoint
	// Held is whether the entry is held that was asked for.
	Held bool
	// Due is when the clock runs down that was asked for; zero where it does not run.
	Due time.Time
	// Run is the run that was asked for, RunLease until when it is believed to go on.
	Run      *Run
	RunLease time.Time

	// Effects are what the commit does beside writing the records that changed, in
	// their order.
	Effects []Effect
}

// Job is a job with what lies under its id.
type Job struct {
	Record
	// View is the job as people saw it when it was loaded; loaded with Query.Running, and
	// for jobs of which the outside is notified.
	View job.Job
	// Loaded is the record as it was loaded; empty for a new job. The commit writes
	// the difference.
	Loaded Record

	Session *Session
	// SecretAlive is whether its secret has not run out.
	SecretAlive bool
	Secret      job.Secret
	// Calls are the tool calls in its chat.
	Calls map[string]Call
	// PendingMessages counts those that its next turn is told; Pending are they.
	PendingMessages int
	Pending         []job.Message
	// Approval is the decision that was looked up, KnownRun the run for the same key of
	// which Claude does not know the end yet.
	Approval *approval.Decision
	KnownRun RunID
	// Unused are the checkpoints of decisions that nobody has used yet; loaded with
	// Query.Running.
	Unused []job.CheckpointID
	// Standing are the ids of standing approvals that go with the job.
	Standing []string
	// Batches and BatchItems count what was accepted of a large result so far; Batch is
	// the one that was looked up.
	Batches, BatchItems int
	Batch               *Batch
	// Queued are the steers that wait for the end of the turn, oldest first.
	Queued []QueuedSteer
	// Checkpoints and Runs are those that are deleted with it.
	Checkpoints []*Checkpoint
	Runs        []RunID
	// Deleted is whether the commit removes it.
	Deleted bool
	// UserRunning counts the workers that its user's jobs hold.
	UserRunning int
}
