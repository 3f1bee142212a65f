package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
)

// Outcome is what became of a callback.
type Outcome string

// The outcomes; beside them, a terminal state of the job says that the
// callback came too late.
const (
	Accepted Outcome = "accepted"
	Repeated Outcome = "repeated" // the same was accepted before
	Conflict Outcome = "conflict" // something different was accepted before
	Stale    Outcome = "stale"    // batches arrived meanwhile; read them again
	Unknown  Outcome = "unknown"  // no such job
)

// Facts reads what a callback must be checked against, and the job's state.
// ok is false when the job is unknown.
func (s *Store) Facts(ctx context.Context, id job.ID) (f Facts, state job.State, ok bool, err error) {
	p, known := partitionOfID(id)
	if !known {
		return Facts{}, "", false, nil
	}
	pipe := s.rdb.Pipeline()
	fields := pipe.HMGet(ctx, p.key("job", string(id)), "kind", "user", "signature", "state", "prefix", "session")
	alive := pipe.Exists(ctx, p.key("secret", string(id)))
	if _, err := pipe.Exec(ctx); err != nil {
		return Facts{}, "", false, storeError(err)
	}
	v := fields.Val()
	if v[0] == nil {
		return Facts{}, "", false, nil
	}
	f.Kind, _ = v[0].(string)
	f.UserID, _ = v[1].(string)
	f.signature, _ = v[2].(string)
	f.prefix, _ = v[4].(string)
	f.SessionID, _ = v[5].(string)
	text, _ := v[3].(string)
	state = job.State(text)
	if !state.Terminal() && !state.Parked() && alive.Val() == 0 {
		state = job.Expired // the deadline has passed, its event is about to be sent
	}
	return f, state, true, nil
}

// Progress stores a progress report for a job of the given facts. digest
// identifies the report, so that a repeated one makes no second event.
func (s *Store) Progress(ctx context.Context, id job.ID, f Facts, activity json.RawMessage, digest string) (Outcome, error) {
	now := time.Now()
	frame, err := f.activityFrame(id, now, activity)
	if err != nil {
		return "", err
	}
	answer, err := s.runJob(ctx, s.scripts.progress, id, string(activity), digest, f.UserID, now.UnixMilli(), frame)
	if err != nil {
		return "", err
	}
	if answer == "ok" {
		return Accepted, nil
	}
	return Outcome(answer.(string)), nil
}

// activityFrame is the event of a progress report from behind its id.
func (f Facts) activityFrame(id job.ID, now time.Time, activity json.RawMessage) (string, error) {
	user, err := json.Marshal(f.UserID)
	if err != nil {
		return "", err
	}
	return `","event":"` + f.prefix + `:activity","requestId":"` + string(id) + `","userId":` + string(user) +
		`,"time":"` + now.UTC().Format("2006-01-02T15:04:05.000Z") + `","data":` + string(activity) + `}`, nil
}

// Submission is a result that passed its schema.
type Submission struct {
	// Digest identifies the payload, so that a repeated one is recognised.
	Digest string
	// Result is what the record keeps.
	Result json.RawMessage
	// Received is how many suggestions it holds, which the received event tells;
	// nil for results without suggestions.
	Received *int
	// Batches is how many batches came before the final one, and Partial the data
	// of the final one's event; Partial is nil for a result in one piece.
	Batches int
	Partial json.RawMessage
	// Message tells the chat; its session and user are the job's.
	Message *job.MessageBody
	// Final is whether a change was approved and brought out: else it is reviewed.
	Final bool
}

// Result accepts a result, once.
func (s *Store) Result(ctx context.Context, id job.ID, r Submission) (Outcome, error) {
	event, err := json.Marshal(struct {
		SuggestionID job.ID `json:"suggestionId"`
		Received     *int   `json:"received,omitempty"`
	}{id, r.Received})
	if err != nil {
		return "", err
	}
	message := ""
	if r.Message != nil {
		r.Message.RequestID = id
		if message, err = messageRest(*r.Message, r.Message.UserID, r.Message.SessionID); err != nil {
			return "", err
		}
	}
	batches := ""
	if r.Partial != nil {
		batches = strconv.Itoa(r.Batches)
	}
	final := ""
	if r.Final {
		final = "1"
	}
	answer, err := s.runJob(ctx, s.scripts.result, id,
		r.Digest, string(r.Result), string(event), batches, string(r.Partial), message, final)
	if err != nil {
		return "", err
	}
	return Outcome(answer.(string)), nil
}

// GiveUp notes that Claude cannot do the job: the job fails, or, when retryable,
// is rung again after this turn until its attempts are used up.
func (s *Store) GiveUp(ctx context.Context, id job.ID, code job.Code, message string, retryable bool) (Outcome, error) {
	answer, err := s.runJob(ctx, s.scripts.giveUp, id, string(code), message, retryable)
	if err != nil {
		return "", err
	}
	return Outcome(answer.(string)), nil
}

// NewBatch is one batch of a large result that passed its checks.
type NewBatch struct {
	// Index counts batches from 1.
	Index int
	// Digest identifies the items, so that a repeated batch is recognised.
	Digest string
	// Items is a JSON array of Count items.
	Items json.RawMessage
	Count int
	// Others is how many other batches it was judged with: when there are more by
	// now, it is not kept, and Stale is returned. AnyOthers: it does not matter.
	Others int
}

// AnyOthers says that a batch is good whatever the others hold.
const AnyOthers = -1

// Batch keeps one batch and returns how many items have arrived in all, as
// first told for this batch.
func (s *Store) Batch(ctx context.Context, id job.ID, b NewBatch) (Outcome, int, error) {
	answer, err := s.runJob(ctx, s.scripts.batch, id, b.Index, b.Digest, string(b.Items), b.Count, b.Others)
	if err != nil {
		return "", 0, err
	}
	parts := answer.([]any)
	if len(parts) < 2 {
		return Outcome(parts[0].(string)), 0, nil
	}
	return Outcome(parts[0].(string)), atoi(parts[1].(string)), nil
}

// Collected is what a batched result consists of so far.
type Collected struct {
	// Items holds the items of each batch, by index.
	Items map[int]json.RawMessage
	// Result and Digest are set once the final batch was accepted.
	Result json.RawMessage
	Digest string
}

// Batches returns the batches accepted so far.
func (s *Store) Batches(ctx context.Context, id job.ID) (Collected, error) {
	p, err := locate(id)
	if err != nil {
		return Collected{}, err
	}
	pipe := s.rdb.Pipeline()
	batches := pipe.HGetAll(ctx, p.key("batches", string(id)))
	record := pipe.HMGet(ctx, p.key("job", string(id)), "result", "digest")
	if _, err := pipe.Exec(ctx); err != nil {
		return Collected{}, storeError(err)
	}
	c := Collected{Items: make(map[int]json.RawMessage, len(batches.Val()))}
	if result, ok := record.Val()[0].(string); ok {
		c.Result = json.RawMessage(result)
		c.Digest, _ = record.Val()[1].(string)
	}
	for index, stored := range batches.Val() {
		parts := strings.SplitN(stored, " ", 4) // see lua/batch.lua
		if len(parts) != 4 {
			return Collected{}, fmt.Errorf("reading batch %s of %s: %d parts", index, id, len(parts))
		}
		c.Items[atoi(index)] = json.RawMessage(parts[3])
	}
	return c, nil
}
