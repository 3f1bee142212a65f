package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// NewJob describes a new job.
type NewJob struct {
	Kind string
	// KindVersion and Definition are those of kind.Kind; empty for jobs that no process runs.
	KindVersion string
	Definition  []byte
	// Title is the job's name in lists; empty for none.
	Title string
	// Tags are the caller's tags, without duplicates.
	Tags      []string
	UserID    string
	APIKey    string // as in Record
	SessionID string // empty for a new session
	Input     json.RawMessage
	Options   job.Options
	// IdempotencyKey makes another call of the same user return the first job, if the requests are
	// equal.
	IdempotencyKey string
	// EventPrefix is the prefix of the names of the job's events.
	EventPrefix string
	Priority    job.Priority
	// CallbackTimeout is the time limit for a callback, for each turn.
	CallbackTimeout time.Duration
	// MaxAttempts is the number of consecutive turns that may end without a result.
	MaxAttempts int
	// BudgetUSD is the job's budget; 0 means no limit of its own.
	BudgetUSD float64
	// Request is the user's request as a message for the session; nil for none.
	Request *job.MessageBody
	// Follows is the job whose conversation this one continues, if it has ended and its user has
	// written since; empty for a new conversation.
	Follows job.ID
	// HasWorkspace is true if the job works on repositories. Its result is then captured and
	// reviewed before it is received.
	HasWorkspace bool
	// Interprets is the reply that this job interprets; the zero value for none.
	Interprets Round
}

// digest returns a digest that is equal for equal requests.
func (n NewJob) digest() string {
	return job.Digest(job.MustJSON(struct {
		Kind, SessionID string
		Input           json.RawMessage
		Options         job.Options
		Tags            []string `json:",omitempty"`
	}{Kind: n.Kind, SessionID: n.SessionID, Input: n.Input, Options: n.Options, Tags: n.Tags}))
}

// Start stores a pending job with its secret and queues its first turn. For a known idempotency
// key, it returns the job of the first call. It returns a Conflict error if that call had a
// different request, or if the job is not needed: the reply to interpret was superseded, or the job
// to follow was retried or already has a follower.
func (s *Service) Start(ctx context.Context, n NewJob) (job.Job, error) {
	id := job.ID(s.store.NewID(job.JobIDs, n.UserID))
	digest := n.digest()
	if n.SessionID == "" {
		n.SessionID = id.OwnSession()
	}
	secret := job.NewSecret()
	q := Query{
		UserID: n.UserID, SessionID: n.SessionID, Before: n.Follows,
		IdempotencyKey: n.IdempotencyKey, Interpreted: n.Interprets.Checkpoint, KindVersion: n.KindVersion,
	}
	known, err := resultOf(ctx, s.runDurably, q, func(st *State) (job.ID, error) { return st.create(s.opts, n, id, secret, digest) })
	if err != nil {
		return job.Job{}, err
	}
	if known != id {
		return s.store.Get(ctx, known)
	}
	return job.Job{
		ID: id, Kind: n.Kind, KindVersion: n.KindVersion, UserID: n.UserID, SessionID: n.SessionID, State: job.Pending,
	}, nil
}

// create decides on a new job and returns its id, or the id of the job that the idempotency key
// created earlier.
func (st *State) create(opts Options, n NewJob, id job.ID, secret job.Secret, digest string) (job.ID, error) {
	if err := st.checkInterprets(n.Interprets); err != nil {
		return "", err
	}
	if n.IdempotencyKey != "" {
		if known := st.Known.Get().Job; known != nil {
			return known.ID, known.checkRequest(digest)
		}
	}
	before, err := st.checkFollows(n.Follows)
	if err != nil {
		return "", err
	}
	j := newJob(opts, n, id)
	j.Session.Set(st.Session.Get())
	j.Calls.Set(map[string]Call{})
	j.Secret.Set(secret)
	j.CreatedAt = st.Now
	j.Signature = secret.Sign(id).Digest()
	st.Job = j
	if n.KindVersion != "" {
		st.do(KeepKind{n.KindVersion, n.Definition, st.KindStored.Get()})
	}
	st.do(RotateSecret{JobID: id, UserID: n.UserID, Secret: secret, Time: st.Now}, KeepSecret{id, n.CallbackTimeout})
	if n.IdempotencyKey != "" {
		j.IdempotencyKey, j.RequestDigest = n.IdempotencyKey, digest
		st.do(RememberKey{UserID: n.UserID, Key: n.IdempotencyKey, JobID: id, Was: st.Known.Get().ID})
	}
	if n.Interprets.Checkpoint != "" { // such a job is in no list: it is part of handling the reply
		st.Interpreted.Get().Interpreter = id
	}
	return id, st.begin(j, before, n.Request)
}

// begin makes a new job wait for its first turn, and for the exit of the job that it follows, if any.
func (st *State) begin(j, before *Job, request *job.MessageBody) error {
	st.setClock(j, QueueClock, j.QueueTimeout)
	st.Session.Get().Job = j.ID
	phase := job.Queued
	if before != nil && before.Owner != "" {
		phase = job.WaitingForExit
	}
	if err := st.move(j, job.Pending, phase, nil); err != nil {
		return err
	}
	if request != nil {
		st.addMessage(j.chat(), j.chat().about(*request), EndedByTurn)
	}
	if before != nil {
		return st.follow(j, before)
	}
	return st.enqueue(j)
}

// checkRequest rejects a different request under the idempotency key of this job.
func (j *Job) checkRequest(digest string) error {
	if j.RequestDigest == "" || j.RequestDigest == digest {
		return nil
	}
	return job.Errorf(job.Conflict, "The idempotency key was already used for another request").
		WithHint("It created the job %s. A new request needs a new key; a repeated request must be identical.", j.ID)
}

// checkFollows returns the job that a new one follows; nil for none. It rejects a job that would have no
// messages to deliver: the previous job is gone, runs again, or already has a follower.
func (st *State) checkFollows(id job.ID) (*Job, error) {
	if id == "" {
		return nil, nil
	}
	if b := st.Before.Get(); b != nil && b.State.Terminal() && b.unread() > 0 {
		return b, nil
	}
	return nil, job.Errorf(job.Conflict, "Nothing waits for a job that follows %s", id)
}

// checkInterprets rejects a job for a reply that has been superseded.
func (st *State) checkInterprets(r Round) error {
	if r.Checkpoint == "" {
		return nil
	}
	if c := st.Interpreted.Get(); c != nil && c.Status == job.Interpreting && c.Round == r.Number {
		return nil
	}
	return job.Errorf(job.Conflict, "The reply to %s is no longer to be read", r.Checkpoint)
}

// hasNoProcess reports whether no process runs for a job: a person plays Claude, and there are no
// repositories to prepare.
func hasNoProcess(o job.Options, hasWorkspace bool) bool {
	return o.Simulate == job.SimulateManual && !hasWorkspace
}

func newJob(opts Options, n NewJob, id job.ID) *Job {
	j := &Job{Record: Record{
		ID: id, Kind: n.Kind, KindVersion: n.KindVersion, Title: n.Title, Tags: n.Tags, UserID: n.UserID, APIKey: n.APIKey,
		SessionID: n.SessionID, EventPrefix: n.EventPrefix,
		Input: n.Input, Options: n.Options, Priority: n.Priority,
		Manual: hasNoProcess(n.Options, n.HasWorkspace), Simulated: n.Options.Simulate != job.SimulateNone,
		HasWorkspace: n.HasWorkspace, CallbackTimeout: n.CallbackTimeout, QueueTimeout: opts.QueueTimeout,
		Retention: opts.Retention, MaxAttempts: n.MaxAttempts, Interprets: n.Interprets, Conversation: 1,
		AuditHead: new(job.AuditHead), BudgetUSD: n.BudgetUSD, BudgetStep: n.BudgetUSD,
	}}
	if n.Interprets.Checkpoint == "" {
		for _, way := range opts.Notify {
			j.Notify = append(j.Notify, string(way))
		}
	}
	return j
}

// follow makes a new job continue the conversation of another, with the messages that the other one
// has not delivered, as soon as the other one's process has exited.
func (st *State) follow(j, before *Job) error {
	st.inherit(j, before)
	before.handOver(j)
	if before.Owner != "" {
		before.Follower = j.ID
		return nil
	}
	return st.enqueue(j)
}
