package lifecycle

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/job"
)

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
	// Holder is the node that submits it, where it is one and not a callback: ErrSuperseded
	// says that it does not have the turn any more.
	Holder Holder
	// Final is whether a change was approved and published: else it is reviewed.
	Final bool
}

// refusal is the outcome of a callback that the job cannot take: it is unknown, has
// ended, waits for a person, or its secret has expired. It is zero if the job can.
func (st *State) refusal() Outcome {
	j := st.Job
	switch {
	case j == nil:
		return Outcome{Kind: Unknown}
	case j.State.Terminal() || j.Checkpoint != "":
		return RefusedIn(j.State)
	case !j.SecretAlive:
		return RefusedIn(job.Expired)
	}
	return Outcome{}
}

// Accept accepts a result, once.
func (s *Service) Accept(ctx context.Context, id job.ID, r Submission) (Outcome, error) {
	var outcome Outcome
	err := s.promise(ctx, Query{Job: id, Batches: true}, func(st *State) (err error) {
		outcome, err = st.accept(r)
		return err
	})
	return outcome, err
}

// receivedData is the data of the event of an accepted result.
type receivedData struct {
	// SuggestionID is the job's requestId.
	SuggestionID job.ID `json:"suggestionId"`
	// Received is how many suggestions the result holds, where it holds such.
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
		refusal = Outcome{} // Claude's deadline does not apply to what a person has approved
	}
	switch {
	case refusal != (Outcome{}):
		return refusal, nil
	case j.HasWorkspace && !r.Final:
		return st.submit(r)
	case r.Partial != nil && j.Batches != r.Batches:
		return Outcome{Kind: Stale}, nil
	}
	j.Result, j.ResultDigest, j.Error, j.Code = r.Result, r.Digest, "", ""
	if r.Partial != nil {
		st.do(DropBatches{j.ID})
		st.emit(j.recipient(), job.EventPartial, r.Partial)
	}
	if r.Message != nil {
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

// reviewTime is how long the server may take for reading and verifying a change
// before Claude's callback clock expires the job.
const reviewTime = 2 * time.Hour

// submit keeps the result of a change. It is not received before it was looked at: by the
// event of its phase, the node that runs the turn hears that Claude has done its part.
// Between turns it is refused: the files it speaks of are where a turn was, and nobody
// says that the next one is there.
func (st *State) submit(r Submission) (Outcome, error) {
	j := st.Job
	switch {
	case j.Submitted:
		return sameAs(j.ResultDigest == r.Digest), nil
	case j.State != job.Running:
		return RefusedIn(j.State), nil
	}
	j.Result, j.ResultDigest, j.Submitted, j.Reviewed = r.Result, r.Digest, true, ""
	st.setCallbackClock(j, reviewTime)
	return Outcome{Kind: Accepted}, st.movePhase(j, job.Capturing)
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

// partialData is the data of a batch's event.
type partialData struct {
	// Suggestions are the items of this batch.
	Suggestions json.RawMessage `json:"suggestions" jsonschema:"type=array"`
	// Total is how many items have arrived in all.
	Total int `json:"total"`
}

// AddBatch keeps one batch, shows it to the user at once, and returns how many items
// have arrived in all, as first told for this batch.
func (s *Service) AddBatch(ctx context.Context, id job.ID, b NewBatch) (outcome Outcome, total int, err error) {
	err = s.promise(ctx, Query{Job: id, Batches: true, Batch: b.Index}, func(st *State) error {
		outcome, total = st.addBatch(b)
		return nil
	})
	return outcome, total, err
}

func (st *State) addBatch(b NewBatch) (Outcome, int) {
	if refusal := st.refusal(); refusal != (Outcome{}) {
		return refusal, 0
	}
	j := st.Job
	if known := j.Batch; known != nil {
		if known.Digest != b.Digest {
			return Outcome{Kind: Conflict}, 0
		}
		return Outcome{Kind: Repeated}, known.Total
	}
	if b.Others != AnyOthers && j.Batches != b.Others {
		return Outcome{Kind: Stale}, 0
	}
	total := j.BatchItems + b.Count
	st.do(KeepBatch{j.ID, b.Index, Batch{b.Digest, b.Count, total, b.Items}})
	st.emit(j.recipient(), job.EventPartial, partialData{b.Items, total})
	return Outcome{Kind: Accepted}, total
}

// ReportFailure notes that Claude cannot do the job: the job fails, or, when
// retryable, is tried again after this turn until its attempts are used up.
func (s *Service) ReportFailure(ctx context.Context, id job.ID, code job.Code, message string, retryable bool) (Outcome, error) {
	var outcome Outcome
	err := s.promise(ctx, Query{Job: id}, func(st *State) (err error) {
		outcome, err = st.reportFailure(code, message, retryable)
		return err
	})
	return outcome, err
}

func (st *State) reportFailure(code job.Code, message string, retryable bool) (Outcome, error) {
	j := st.Job
	if j != nil && j.State == job.Failed && j.Code == code && j.Error == message {
		return Outcome{Kind: Repeated}, nil
	}
	if refusal := st.refusal(); refusal != (Outcome{}) {
		return refusal, nil
	}
	if retryable && j.Owner != "" { // the end of the turn's process leads to another attempt
		j.FailureMessage, j.FailureCode, j.FailureTurn = message, code, j.Turn
		return Outcome{Kind: Accepted}, nil
	}
	return Outcome{Kind: Accepted}, st.fail(j, job.Failed, code, message, message)
}
