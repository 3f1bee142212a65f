package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// RunID identifies one run of an action.
type RunID string

// RunState says how far a run is.
type RunState string

// The states. A run whose server was lost is Unsure: nobody knows whether it
// took effect.
const (
	Acting    RunState = "running"
	Succeeded RunState = "success"
	Erred     RunState = "error"
	Unsure    RunState = "unknown"
)

// ActionRun is one run of an action.
type ActionRun struct {
	State RunState
	// Result is what the action gave back, JSON; empty before its end.
	Result json.RawMessage
}

// Act is an action that is to run now.
type Act struct {
	RequestID job.ID
	Run       RunID
	// Subject is the action with its input, as an approval names it.
	Subject string
	Deed    job.Deed
	// Timeout is how long it may take: so long the callback clock stands still.
	Timeout time.Duration
	// Chat shows a call that is not gated; one that is was shown with its question.
	Chat job.MessageBody
	// UserID and SessionID say where that is.
	UserID, SessionID string
	// Gated is whether it needs an approval, which is used up.
	Gated bool
}

// The outcomes of Act, beside Unknown and the state that does not allow it.
const (
	Started    Outcome = "started"
	Known      Outcome = "known"      // the same has run, and Claude has not heard how it ended
	Unapproved Outcome = "unapproved" // nobody has allowed it, or not in time
)

// actionLease is how long a run is believed to go on without a sign of life.
const actionLease = 15 * time.Second

// ActionHeartbeat is how often a run gives a sign of life.
const ActionHeartbeat = time.Second

// Act begins the run of an action. For Known, the run is the one that is known.
func (s *Store) Act(ctx context.Context, a Act) (Outcome, RunID, error) {
	about, err := members(a.Deed)
	if err != nil {
		return "", "", err
	}
	gated := ""
	if a.Gated {
		gated = "1"
	}
	chat, err := messageRest(a.Chat, a.UserID, a.SessionID)
	if err != nil {
		return "", "", err
	}
	answer, err := s.runJob(ctx, s.scripts.act, a.RequestID, a.Subject, string(a.Run), a.Deed.Action,
		toMillis(a.Timeout), gated, toMillis(actionLease), about, chat)
	if err != nil {
		return "", "", err
	}
	parts := stringsOf(answer)
	if len(parts) < 2 {
		return Outcome(parts[0]), "", nil
	}
	return Outcome(parts[0]), RunID(parts[1]), nil
}

// StillActing gives a run's sign of life and returns the state of its job.
func (s *Store) StillActing(ctx context.Context, id job.ID, run RunID) (job.State, error) {
	p, err := locate(id)
	if err != nil {
		return "", err
	}
	pipe := s.rdb.Pipeline()
	pipe.ZAddXX(ctx, p.key("acting"), redis.Z{Score: float64(time.Now().Add(actionLease).UnixMilli()), Member: string(run)})
	state := pipe.HGet(ctx, p.key("job", string(id)), "state")
	if _, err := pipe.Exec(ctx); err != nil {
		return "", storeError(err)
	}
	return job.State(state.Val()), nil
}

// Acted books the end of a run. It returns the state that stands: a run that was
// given up before stays so.
func (s *Store) Acted(ctx context.Context, id job.ID, run RunID, state RunState, result json.RawMessage) (RunState, error) {
	p, err := locate(id)
	if err != nil {
		return "", err
	}
	answer, err := s.run(ctx, s.scripts.acted, p, string(run), string(state), string(result))
	if err != nil {
		return "", err
	}
	return RunState(answer.(string)), nil
}

// ActionRun returns a run of an action.
func (s *Store) ActionRun(ctx context.Context, id job.ID, run RunID) (ActionRun, error) {
	p, err := locate(id)
	if err != nil {
		return ActionRun{}, err
	}
	fields, err := s.rdb.HMGet(ctx, p.key("action", string(run)), "state", "result").Result()
	if err != nil {
		return ActionRun{}, storeError(err)
	}
	state, _ := fields[0].(string)
	result, _ := fields[1].(string)
	return ActionRun{RunState(state), json.RawMessage(result)}, nil
}

// Heard notes that Claude knows how a run ended: the same call is a new one from
// now on.
func (s *Store) Heard(ctx context.Context, id job.ID, subject string, run RunID) error {
	_, err := s.runJob(ctx, s.scripts.heard, id, subject, string(run))
	return err
}

// Note adds to a job's audit log what happened without a change of anything
// else: event refused or allowed, and why.
func (s *Store) Note(ctx context.Context, id job.ID, event, detail string, d job.Deed) error {
	entry, err := members(struct {
		Event  string `json:"event"`
		Detail string `json:"detail"`
		job.Deed
	}{event, detail, d})
	if err != nil {
		return err
	}
	_, err = s.runJob(ctx, s.scripts.note, id, strings.TrimPrefix(entry, ","))
	return err
}

// Audit returns a job's audit log, oldest entry first, each a JSON object.
func (s *Store) Audit(ctx context.Context, id job.ID) ([]json.RawMessage, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	texts, err := s.rdb.LRange(ctx, p.key("audit", string(id)), 0, -1).Result()
	if err != nil {
		return nil, storeError(err)
	}
	entries := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		entries[i] = json.RawMessage(text)
	}
	return entries, nil
}
