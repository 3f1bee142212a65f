package callback

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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

const progressSchema = `{
  "type": "object",
  "required": ["message"],
  "properties": {
    "message": {"type": "string", "minLength": 1, "maxLength": 2000,
      "description": "What Claude is doing, in one short sentence."},
    "progress": {"type": "number", "minimum": 0, "maximum": 100, "description": "The completed share in percent; default 50."},
    "type": {"enum": ["thinking", "querying", "results"], "description": "The phase of the work; default querying."}
  },
  "additionalProperties": false
}`

type success struct {
	Success bool `json:"success"` // Always true.
}

// stored is success in JSON.
var stored = json.RawMessage(`{"success":true}`)

// reported answers a progress report.
type reported struct {
	Success bool `json:"success"` // Always true.
	withMessages
}

// progress stores Claude's progress and publishes it to the user.
func (h *Handler) progress(in *call) (json.RawMessage, error) {
	activity, ok := readActivity(in.payload)
	if !ok {
		if err := h.check(in, progressSchema); err != nil {
			return nil, err
		}
		activity, _ = readActivity(in.payload) // without fields that are null
	}
	text := job.MustJSON(activity)
	outcome, err := h.store.Calls.Progress(in.ctx, in.id, in.header, text, job.ActivityDigest(text))
	in.quiet = !outcome.Waiting
	return stored, in.outcomeError(outcome, err)
}

// readActivity reads a progress report and sets defaults. If ok is true, the report fits the schema: most callbacks
// are such reports, and validating with the schema takes most of their time. A test checks that both agree.
func readActivity(payload map[string]any) (a job.Activity, ok bool) {
	a = job.Activity{Type: job.Querying, Progress: 50}
	known := 1
	a.Message, ok = payload["message"].(string)
	ok = ok && a.Message != "" && len(a.Message) <= 2000
	if v, present := payload["type"]; present {
		known++
		text, _ := v.(string)
		a.Type = job.ActivityType(text)
		ok = ok && slices.Contains([]job.ActivityType{job.Thinking, job.Querying, job.Results}, a.Type)
	}
	if v, present := payload["progress"]; present {
		known++
		n, _ := v.(json.Number)
		var err error
		a.Progress, err = n.Float64()
		ok = ok && err == nil && a.Progress >= 0 && a.Progress <= 100
	}
	return a, ok && known == len(payload)
}

const failureSchema = `{
  "type": "object",
  "required": ["error"],
  "properties": {
    "error": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "Why the job cannot be done, for people."},
    "errorCode": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$",
      "description": "The reason for programs; default claude_failed."},
    "retryable": {"type": "boolean", "description": "Whether to retry the job; default false."}
  },
  "additionalProperties": false
}`

// failure ends a job, or this attempt of it, because Claude reports that it cannot do
// it.
func (h *Handler) failure(in *call) (json.RawMessage, error) {
	if err := h.check(in, failureSchema); err != nil {
		return nil, err
	}
	message, _ := in.payload["error"].(string)
	text, _ := in.payload["errorCode"].(string)
	code := cmp.Or(job.Code(text), job.CodeGaveUp)
	if code != job.CodeGaveUp && code.Remedy() != "" {
		return nil, h.wrongPayload(in, []job.Detail{{
			Path: "/errorCode", Message: fmt.Sprintf("found %q, which only Ringback itself reports; use another code, or none", code),
		}})
	}
	retryable, _ := in.payload["retryable"].(bool)
	outcome, err := h.jobs.ReportFailure(in.ctx, in.id, code, message, retryable)
	return stored, in.outcomeError(outcome, err)
}
