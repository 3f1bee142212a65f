package callback

import (
	"encoding/json"
	"errors"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
)

func (h *Handler) suggestions(in *call) (json.RawMessage, error) {
	list, _ := in.payload["suggestions"].([]any)
	if _, err := h.result(in); err != nil {
		return nil, err
	}
	return job.MustJSON(receivedResult{true, len(list)}), nil
}

// receivedResult contains the number of suggestions in a result.
type receivedResult struct {
	Success  bool `json:"success"`  // Always true.
	Received int  `json:"received"` // The number of suggestions in the result.
}

func (h *Handler) result(in *call) (json.RawMessage, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	accepted, details, err := k.Accept(in.payload, h.inputOf(in))
	if err != nil {
		return nil, err
	}
	if details != nil {
		return nil, h.wrongPayload(in, details)
	}
	outcome, err := h.jobs.Accept(in.ctx, in.id, lifecycle.Submission{
		Digest: accepted.Digest, Result: accepted.JSON, Received: accepted.Suggestions, Message: in.resultMessage(accepted.JSON),
	})
	return stored, in.outcomeError(outcome, err)
}

func (h *Handler) inputOf(in *call) kind.InputFunc {
	return func() (json.RawMessage, error) {
		j, err := h.store.Get(in.ctx, in.id)
		return j.Input, err
	}
}

func (h *Handler) kindOf(in *call) (*kind.Kind, error) {
	k, err := h.jobs.KindOf(in.ctx, job.Job{ID: in.id, Kind: in.header.Kind, KindVersion: in.header.KindVersion})
	if e, ok := errors.AsType[*job.Error](err); ok && e.Kind == job.NotFound { // 404 would mean that the job is gone
		e.Kind = job.Internal
	}
	return k, err
}

// resultMessage returns the chat message for the call's payload, an accepted result. result is its
// JSON.
func (in *call) resultMessage(result json.RawMessage) *job.MessageBody {
	m := job.DecodedResultMessage(in.payload, result)
	m.UserID, m.SessionID = in.header.UserID, in.header.SessionID
	return &m
}
