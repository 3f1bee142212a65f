package lifecycle

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
)

// Submission is a result that passed its schema.
type Submission struct {
	// Digest identifies the payload, so that a repeated one is recognized.
	Digest string
	// Result is the result to store in the record.
	Result json.RawMessage
	// Received is the number of suggestions in the result, for the received event; nil for results
	// without suggestions.
	Received *int
	// Batches is the number of batches before the final one, and Partial the event data of the
	// final one; nil for a result in one piece.
	Batches int
	Partial json.RawMessage
	// Message is the message for the chat. The job supplies its session and user.
	Message *job.MessageBody
	// Holder is set if a node submits the result, not a callback. ErrSuperseded is returned if the
	// node no longer owns the turn.
	Holder Holder
	// Final is true if the change was approved and published; otherwise, it is reviewed.
	Final bool
}

// refusal returns the outcome of a callback that the job cannot accept: it is unknown, has ended,
// waits for a person, or its secret has expired. It returns the zero value if the job can accept
// it.
func (st *State) refusal() Outcome {
	j := st.Job
	switch {
	case j == nil:
		return Outcome{Kind: Unknown}
	case j.State.Terminal() || j.Checkpoint != "":
		return RefusedIn(j.State)
	case j.Secret.Get() == "":
		return RefusedIn(job.Expired)
	}
	return Outcome{}
}

// refusalToClaude is refusal for a callback that means nothing any more once Claude's change was accepted.
func (st *State) refusalToClaude() Outcome {
	if j := st.Job; j != nil && j.Submitted {
		return RefusedIn(job.Received)
	}
	return st.refusal()
}

// Accept accepts a result, once.
func (s *Service) Accept(ctx context.Context, id job.ID, r Submission) (Outcome, error) {
	return resultOf(ctx, s.runDurably, Query{Job: id, Batches: true}, func(st *State) (Outcome, error) { return st.accept(r) })
}

// receivedData is the event data of an accepted result.
type receivedData struct {
	// SuggestionID is the job's requestId.
	SuggestionID job.ID `json:"suggestionId"`
	// Received is the number of suggestions in the result, if it is of that form.
	Received *int `json:"received,omitempty"`
}

func (st *State) accept(r Submission) (Outcome, error) {
	j := st.Job
	if j != nil && j.State == job.Received {
		return sameAs(j.ResultDigest == r.Digest), nil
	}
	if j != nil && !j.State.Terminal() {
		if err := r.Holder.check(j); err != nil {
			return Outcome{}, err
		}
	}
	refusal := st.refusal()
	if refusal.State == job.Expired && r.Final && !j.State.Terminal() {
		refusal = Outcome{} // Claude's deadline does not apply to an approved change
	}
	switch {
	case refusal != (Outcome{}):
		return refusal, nil
	case j.HasWorkspace && !r.Final:
		return st.submit(r)
	case r.Partial != nil && j.Batches.Get().Count != r.Batches:
		return Outcome{Kind: Stale}, nil
	}
	j.Result, j.ResultDigest, j.Error, j.Code = r.Result, r.Digest, "", ""
	if r.Partial != nil {
		st.do(DropBatches{j.ID})
		st.emit(j.recipient(), job.EventPartial, r.Partial)
	}
	if r.Message != nil {
		st.concludePublication(j, is(job.OutcomeSucceeded, strings.TrimPrefix(r.Message.Content, "Done.\n")))
		st.addMessage(j.chat(), j.chat().about(*r.Message), EndedByTurn)
	}
	return Outcome{Kind: Accepted}, st.finish(j, job.Received, receivedData{j.ID, r.Received})
}

func sameAs(same bool) Outcome {
	if same {
		return Outcome{Kind: Repeated}
	}
	return Outcome{Kind: Conflict}
}

// ServerTime is the maximum time that the server itself may work for a job: clone, capture, verify,
// publish. The callback timeout applies only to Claude.
const ServerTime = 2 * time.Hour

// submit stores the result of a change. It is not received before it has been examined: the event
// of its phase notifies the node that runs the turn that Claude has finished. Between turns it is
// refused: its files are where a turn was, and the next turn may run somewhere else.
func (st *State) submit(r Submission) (Outcome, error) {
	j := st.Job
	switch {
	case j.Submitted:
		return sameAs(j.ResultDigest == r.Digest), nil
	case j.State != job.Running:
		return RefusedIn(j.State), nil
	}
	j.Result, j.ResultDigest, j.Submitted, j.Reviewed = r.Result, r.Digest, true, ""
	st.setCallbackClock(j, ServerTime)
	return Outcome{Kind: Accepted}, st.movePhase(j, job.Capturing)
}

// NewBatch is one batch of a large result that has been validated.
type NewBatch struct {
	// Index is the number of the batch, from 1.
	Index int
	// Digest identifies the items, so that a repeated batch is recognized.
	Digest string
	// Items is a JSON array of Count items.
	Items json.RawMessage
	Count int
	// Others is the number of other batches that it was validated with. If there are more by now,
	// it is not stored, and Stale is returned. AnyOthers disables the check.
	Others int
}

// AnyOthers means that a batch is valid independently of the others.
const AnyOthers = -1

// partialData is the event data of a batch.
type partialData struct {
	// Suggestions are the items of this batch.
	Suggestions json.RawMessage `json:"suggestions" jsonschema:"type=array"`
	// Total is the number of items that have arrived so far.
	Total int `json:"total"`
}

// MaxBatches limits the bytes of a result's batches before the final one, so that a full result can be completed.
const MaxBatches = 16 << 20

// AddBatch stores one batch and sends it to the user at once. It returns the number of items that
// have arrived so far. A repeated batch returns the same number as before.
func (s *Service) AddBatch(ctx context.Context, id job.ID, b NewBatch) (outcome Outcome, total int, err error) {
	err = s.runDurably(ctx, Query{Job: id, Batches: true, Batch: b.Index}, func(st *State) error {
		outcome, total, err = st.addBatch(b)
		return err
	})
	return outcome, total, err
}

func (st *State) addBatch(b NewBatch) (Outcome, int, error) {
	if refusal := st.refusalToClaude(); refusal != (Outcome{}) {
		return refusal, 0, nil
	}
	j := st.Job
	batches := j.Batches.Get()
	if known := batches.Requested; known != nil {
		if known.Digest != b.Digest {
			return Outcome{Kind: Conflict}, 0, nil
		}
		return Outcome{Kind: Repeated}, known.Total, nil
	}
	if b.Others != AnyOthers && batches.Count != b.Others {
		return Outcome{Kind: Stale}, 0, nil
	}
	if fit := MaxBatches - batches.Bytes; len(b.Items) > fit {
		return Outcome{}, 0, job.Errorf(job.TooLarge, "The batches of a result may have %d MiB together", MaxBatches>>20).
			WithHint(
				"This one has %d bytes, and %d fit. Send fewer or shorter items, or end the result with the final batch.", len(b.Items), fit,
			)
	}
	total := batches.Items + b.Count
	st.do(KeepBatch{j.ID, b.Index, Batch{Digest: b.Digest, Count: b.Count, Total: total, Items: b.Items}})
	st.emit(j.recipient(), job.EventPartial, partialData{b.Items, total})
	return Outcome{Kind: Accepted}, total, nil
}

// ReportFailure records that Claude cannot do the job. The job fails or, if retryable is true, is
// retried after this turn until its attempts are used up.
func (s *Service) ReportFailure(ctx context.Context, id job.ID, code job.Code, message string, retryable bool) (Outcome, error) {
	return resultOf(
		ctx, s.runDurably, Query{Job: id},
		func(st *State) (Outcome, error) { return st.reportFailure(code, message, retryable) },
	)
}

func (st *State) reportFailure(code job.Code, message string, retryable bool) (Outcome, error) {
	j := st.Job
	if j != nil && j.State == job.Failed && j.Code == code && j.Error == message {
		return Outcome{Kind: Repeated}, nil
	}
	if refusal := st.refusalToClaude(); refusal != (Outcome{}) {
		return refusal, nil
	}
	if retryable && j.Owner != "" { // the exit of the turn's process starts another attempt
		j.FailureMessage, j.FailureCode, j.FailureTurn = message, code, j.Turn
		return Outcome{Kind: Accepted}, nil
	}
	return Outcome{Kind: Accepted}, st.fail(j, job.Failed, code, message, message)
}
