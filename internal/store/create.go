package store

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
	Kind      string
	UserID    string
	SessionID string // empty: the store chooses one
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
	// Attempts is how many turns in a row may end without a result.
	Attempts int
	// Request is the user's wish as a message of the session; nil for none.
	Request *job.MessageBody
	// Follows is the job whose conversation this one goes on with, if it has ended and
	// its user has written since; empty for a new one.
	Follows job.ID
	// Change is whether the job works on repositories: then its result is captured
	// and reviewed before it is received.
	Change bool
	// Reads is the reply that this job is to make sense of; the zero value for none.
	Reads Reading
}

// Reading is one round of making sense of what a person replied.
type Reading struct {
	Checkpoint job.CheckpointID
	// Round is job.Checkpoint.Round: a further reply begins another.
	Round int
}

// ref names the round in scripts, tasks and records; empty for none.
func (r Reading) ref() string {
	if r.Checkpoint == "" {
		return ""
	}
	return string(r.Checkpoint) + "|" + itoa(r.Round)
}

func readingOf(ref string) Reading {
	id, round, _ := strings.Cut(ref, "|")
	return Reading{job.CheckpointID(id), atoi(round)}
}

// Create stores a pending job with its secret and queues its first turn. For a
// known idempotency key it returns the job of the first call. A Conflict error: that
// call asked for something else; or there is no need of the job: the reply that is
// to be read was superseded, or the job to follow was retried or is followed.
func (s *Store) Create(ctx context.Context, n NewJob) (job.Job, error) {
	p := partitionOf(n.UserID)
	id := newID(p)
	asked, err := n.digest()
	if err != nil {
		return job.Job{}, err
	}
	if n.SessionID == "" {
		n.SessionID = "ses_" + strings.TrimPrefix(string(id), "req_")
	} else if err := s.rememberSession(ctx, n.SessionID, n.UserID); err != nil {
		return job.Job{}, err
	}
	request := ""
	if n.Request != nil {
		n.Request.RequestID = id
		if request, err = messageRest(*n.Request, n.UserID, n.SessionID); err != nil {
			return job.Job{}, err
		}
	}
	secret := newSecret()
	fields, err := n.fields(id, secret)
	if err != nil {
		return job.Job{}, err
	}
	if n.Reads.Checkpoint == "" && len(s.opts.Notify) > 0 {
		fields = append(fields, "notify", fmt.Sprint(s.opts.Notify))
	}
	args := append([]any{
		string(id), n.UserID, n.IdempotencyKey, string(secret),
		toMillis(n.CallbackTimeout), toMillis(s.opts.QueueTimeout), request, string(n.Follows), asked, n.Reads.ref(),
	}, fields...)
	answer, err := s.run(ctx, s.scripts.create, p, append(args, "keep", toMillis(s.opts.Retention), "human", toMillis(s.opts.QueueTimeout))...)
	if err != nil {
		return job.Job{}, err
	}
	outcome := stringsOf(answer)
	if outcome[0] == "superseded" {
		return job.Job{}, job.Errorf(job.Conflict, "The reply to %s is no longer to be read", n.Reads.Checkpoint)
	}
	if outcome[0] == "heard" {
		return job.Job{}, job.Errorf(job.Conflict, "Nothing waits for a job that follows %s", n.Follows)
	}
	known := job.ID(outcome[1])
	if outcome[0] == "conflict" {
		return job.Job{}, job.Errorf(job.Conflict, "The idempotency key was used for another request").
			WithHint("It made the job %s. A new request needs a new key; a repeated one must ask for the same.", known)
	}
	if known != id {
		return s.Get(ctx, known)
	}
	return job.Job{ID: id, Kind: n.Kind, UserID: n.UserID, SessionID: n.SessionID, State: job.Pending}, nil
}

// digest is the same for requests that ask for the same.
func (n NewJob) digest() (string, error) {
	text, err := json.Marshal(struct {
		Kind, SessionID string
		Input           json.RawMessage
		Options         job.Options
	}{n.Kind, n.SessionID, n.Input, n.Options})
	if err != nil {
		return "", err
	}
	return job.Digest(text), nil
}

func (n NewJob) fields(id job.ID, secret Secret) ([]any, error) {
	user, err := json.Marshal(n.UserID)
	if err != nil {
		return nil, err
	}
	options, err := json.Marshal(n.Options)
	if err != nil {
		return nil, err
	}
	manual := "0"
	if n.Options.Simulate == job.SimulateManual {
		manual = "1"
	}
	fields := []any{
		"kind", n.Kind, "user", n.UserID, "userJSON", string(user), "session", n.SessionID,
		"prefix", n.EventPrefix, "input", string(n.Input), "options", string(options),
		"priority", string(n.Priority), "manual", manual, "conversation", 1,
		"timeout", toMillis(n.CallbackTimeout), "attempts", n.Attempts,
		"signature", secret.Sign(id).digest(),
	}
	if n.Options.Simulate != job.SimulateNone {
		fields = append(fields, "simulated", 1)
	}
	if n.Change {
		fields = append(fields, "change", 1)
	}
	return fields, nil
}
