package store

import (
	"context"
	"encoding/json"
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
	// IdempotencyKey makes a second call of the same user return the first job.
	IdempotencyKey string
	// EventPrefix begins the names of the job's events.
	EventPrefix string
	Priority    job.Priority
	// CallbackTimeout is how long each turn has to call back.
	CallbackTimeout time.Duration
	// Attempts is how many turns in a row may end without a result.
	Attempts int
}

// Create stores a pending job with its secret and queues its first turn. For a
// known idempotency key it returns the job of the first call.
func (s *Store) Create(ctx context.Context, n NewJob) (job.Job, error) {
	p := partitionOf(n.UserID)
	id := newID(p)
	if n.SessionID == "" {
		n.SessionID = "ses_" + strings.TrimPrefix(string(id), "req_")
	}
	secret := newSecret()
	fields, err := n.fields(id, secret)
	if err != nil {
		return job.Job{}, err
	}
	args := append([]any{
		string(id), n.UserID, n.IdempotencyKey, string(secret),
		toMillis(n.CallbackTimeout), toMillis(s.opts.QueueTimeout),
	}, fields...)
	answer, err := s.run(ctx, s.scripts.create, p, append(args, "keep", toMillis(s.opts.Retention))...)
	if err != nil {
		return job.Job{}, err
	}
	if known := job.ID(answer.([]any)[1].(string)); known != id {
		return s.Get(ctx, known)
	}
	return job.Job{ID: id, Kind: n.Kind, UserID: n.UserID, SessionID: n.SessionID, State: job.Pending}, nil
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
	return []any{
		"kind", n.Kind, "user", n.UserID, "userJSON", string(user), "session", n.SessionID,
		"prefix", n.EventPrefix, "input", string(n.Input), "options", string(options),
		"priority", string(n.Priority), "manual", manual, "conversation", 1,
		"timeout", toMillis(n.CallbackTimeout), "attempts", n.Attempts,
		"signature", secret.Sign(id).digest(),
	}, nil
}
