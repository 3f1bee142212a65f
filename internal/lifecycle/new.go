package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/job"
)

// NewJob is what a job starts from.
type NewJob struct {
	Kind string
	// KindVersion and Definition are those of kind.Kind; empty for jobs that no process runs.
	KindVersion string
	Definition  []byte
	// Title is what the job is called in lists; empty for none.
	Title string
	// Tags are those of the caller, each once.
	Tags      []string
	UserID    string
	SessionID string // empty: one is chosen
	Input     json.RawMessage
	Options   job.Options
	// IdempotencyKey makes a second call of the same user return the first job, if
	// it asks for the same.
	IdempotencyKey string
	// EventPrefix begins the names of the job's events.
	EventPrefix string
	Priority    job.Priority
	// CallbackTimeout is how long each turn has to call back.
	CallbackTimeout time.Duration
	// MaxAttempts is how many turns in a row may end without a result.
	MaxAttempts int
	// BudgetUSD is what the job may cost; 0: no limit of its own.
	BudgetUSD float64
	// Request is what the user asks for as a message of the session; nil for none.
	Request *job.MessageBody
	// Follows is the job whose conversation this one goes on with, if it has ended and
	// its user has written since; empty for a new one.
	Follows job.ID
	// HasWorkspace is whether the job works on repositories: then its result is captured
	// and reviewed before it is received.
	HasWorkspace bool
	// Interprets is the reply that this job is to make sense of; the zero value for none.
	Interprets Round
}

// digest is the same for requests that ask for the same.
func (n NewJob) digest() string {
	return job.Digest(mustMarshal(struct {
		Kind, SessionID string
		Input           json.RawMessage
		Options         job.Options
		Tags            []string `json:",omitempty"`
	}{n.Kind, n.SessionID, n.Input, n.Options, n.Tags}))
}

// Start stores a pending job with its secret and queues its first turn. For a known
// idempotency key it returns the job of the first call. A Conflict error: that call
// asked for something else; or there is no need of the job: the reply that is to be
// interpreted was superseded, or the job to follow was retried or is followed.
func (s *Service) Start(ctx context.Context, n NewJob) (job.Job, error) {
	id := job.ID(s.store.NewID(job.JobIDs, n.UserID))
	digest := n.digest()
	if n.SessionID == "" {
		n.SessionID = "ses_" + strings.TrimPrefix(string(id), "req_")
	} else if err := s.store.RememberSession(ctx, n.SessionID, n.UserID); err != nil {
		return job.Job{}, err
	}
	secret := job.NewSecret()
	q := Query{
		Job: id, RecordOnly: true, UserID: n.UserID, SessionID: n.SessionID, Before: n.Follows,
		IdempotencyKey: n.IdempotencyKey, Interpreted: n.Interprets.Checkpoint,
	}
	var known job.ID
	err := s.promise(ctx, q, func(st *State) (err error) {
		known, err = st.create(s.opts, n, id, secret, digest)
		return err
	})
	if err != nil {
		return job.Job{}, err
	}
	if known != id {
		return s.store.Get(ctx, known)
	}
	return job.Job{ID: id, Kind: n.Kind, KindVersion: n.KindVersion, UserID: n.UserID, SessionID: n.SessionID, State: job.Pending}, nil
}

// create decides on a new job and returns its id, or that of the job that the
// idempotency key has made before.
func (st *State) create(opts Options, n NewJob, id job.ID, secret job.Secret, digest string) (job.ID, error) {
	if err := st.checkInterprets(n.Interprets); err != nil {
		return "", err
	}
	if st.Known != nil {
		return st.Known.ID, st.Known.checkRequest(digest)
	}
	if st.Job != nil {
		return id, nil // the client of the store repeats a commit whose answer it lost
	}
	if err := st.checkFollows(n.Follows); err != nil {
		return "", err
	}
	j := newJob(opts, n, id)
	j.Session, j.CreatedAt = st.Session, st.Now
	j.Signature = secret.Sign(id).Digest()
	st.Job = j
	if n.KindVersion != "" {
		st.do(KeepKind{id, n.KindVersion, n.Definition})
	}
	st.do(RotateSecret{id, n.UserID, secret, st.Now}, KeepSecret{id, n.CallbackTimeout})
	if n.IdempotencyKey != "" {
		j.IdempotencyKey, j.RequestDigest = n.IdempotencyKey, digest
		st.do(RememberKey{n.UserID, n.IdempotencyKey, id, st.KnownID})
	}
	if n.Interprets.Checkpoint != "" { // no list shows it: it is part of how the reply is taken
		st.Interpreted.Interpreter = id
	}
	return id, st.begin(j, n.Request)
}

// begin lets a new job wait for its first turn.
func (st *State) begin(j *Job, request *job.MessageBody) error {
	st.setClock(j, QueueClock, j.QueueTimeout)
	st.Session.Job = j.ID
	phase := job.Queued
	if st.Before != nil && st.Before.Owner != "" {
		phase = job.WaitingForExit
	}
	if err := st.move(j, job.Pending, phase, nil); err != nil {
		return err
	}
	if request != nil {
		st.addMessage(j.chat(), j.chat().about(*request), EndedByTurn)
	}
	if st.Before != nil {
		return st.follow(j, st.Before)
	}
	return st.enqueue(j)
}

// checkRequest refuses another request under the key of this job.
func (j *Job) checkRequest(digest string) error {
	if j.RequestDigest == "" || j.RequestDigest == digest {
		return nil
	}
	return job.Errorf(job.Conflict, "The idempotency key was used for another request").
		WithHint("It made the job %s. A new request needs a new key; a repeated one must ask for the same.", j.ID)
}

// checkFollows refuses a job that has nothing to tell: the one before is gone, runs
// again, or is followed already.
func (st *State) checkFollows(id job.ID) error {
	b := st.Before
	if id == "" || b != nil && b.State.Terminal() && b.PendingMessages > b.DeliveredMessages {
		return nil
	}
	return job.Errorf(job.Conflict, "Nothing waits for a job that follows %s", id)
}

// checkInterprets refuses a job that is to interpret a reply which is superseded.
func (st *State) checkInterprets(r Round) error {
	c := st.Interpreted
	if r.Checkpoint == "" || c != nil && c.Status == job.Interpreting && c.Round == r.Number {
		return nil
	}
	return job.Errorf(job.Conflict, "The reply to %s is no longer to be read", r.Checkpoint)
}

// hasNoProcess is whether nothing runs for a job: a person plays Claude, and no
// repositories are prepared for them.
func hasNoProcess(o job.Options, hasWorkspace bool) bool {
	return o.Simulate == job.SimulateManual && !hasWorkspace
}

func newJob(opts Options, n NewJob, id job.ID) *Job {
	j := &Job{Record: Record{
		ID: id, Kind: n.Kind, KindVersion: n.KindVersion, Title: n.Title, Tags: n.Tags, UserID: n.UserID, SessionID: n.SessionID, EventPrefix: n.EventPrefix,
		Input: n.Input, Options: mustMarshal(n.Options), Priority: n.Priority,
		Manual: hasNoProcess(n.Options, n.HasWorkspace), Simulated: n.Options.Simulate != job.SimulateNone,
		HasWorkspace: n.HasWorkspace, CallbackTimeout: n.CallbackTimeout, QueueTimeout: opts.QueueTimeout,
		Retention: opts.Retention, MaxAttempts: n.MaxAttempts, Interprets: n.Interprets, Conversation: 1,
		AuditHead: new(job.AuditHead), BudgetUSD: n.BudgetUSD, BudgetStep: n.BudgetUSD,
	}, SecretAlive: true}
	if n.Interprets.Checkpoint == "" {
		for _, way := range opts.Notify {
			j.Notify = append(j.Notify, string(way))
		}
	}
	return j
}

// follow lets a new job go on in the conversation of another, with what nobody has
// told that one, once its process is gone.
func (st *State) follow(j, before *Job) error {
	j.inherit(before)
	if before.DeliveredMessages > 0 {
		st.do(TrimPending{before.ID, before.DeliveredMessages})
	}
	j.Words, before.Words = before.handOver()
	j.PendingMessages = before.PendingMessages - before.DeliveredMessages
	before.PendingMessages, before.DeliveredMessages = 0, 0
	st.do(MovePending{before.ID, j.ID, j.Retention})
	if before.Owner != "" {
		before.Follower = j.ID
		return nil
	}
	return st.enqueue(j)
}

// interpreterKey makes the job that interprets one round of replies be made once.
func interpreterKey(r Round) string { return fmt.Sprintf("%s %d", r.Checkpoint, r.Number) }
