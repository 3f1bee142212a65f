package callback

import (
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/schema"
	"ringback/internal/store"
)

const progressSchema = `{
  "type": "object",
  "required": ["message"],
  "properties": {
    "message": {"type": "string", "minLength": 1, "maxLength": 2000},
    "progress": {"type": "number", "minimum": 0, "maximum": 100},
    "type": {"enum": ["thinking", "querying", "results"]}
  }
}`

const failureSchema = `{
  "type": "object",
  "required": ["error"],
  "properties": {
    "error": {"type": "string", "minLength": 1, "maxLength": 2000},
    "errorCode": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"},
    "retryable": {"type": "boolean"}
  }
}`

// lastBatch is the highest number that a batch may have.
const lastBatch = 1000

const batchSchema = `{
  "type": "object",
  "required": ["batch", "suggestions"],
  "properties": {
    "batch": {"type": "integer", "minimum": 1, "maximum": 1000},
    "final": {"type": "boolean"},
    "suggestions": {"type": "array"},
    "reasoning": {"type": "string"}
  }
}`

// schemas are those of the payloads that are the same for every kind.
type schemas struct{ progress, failure, batch, checkpoint, action *schema.Schema }

func compileSchemas() (s schemas, err error) {
	for name, into := range map[string]struct {
		text     string
		compiled **schema.Schema
	}{
		"progress":   {progressSchema, &s.progress},
		"failure":    {failureSchema, &s.failure},
		"batch":      {batchSchema, &s.batch},
		"checkpoint": {checkpointSchema, &s.checkpoint},
		"action":     {actionSchema, &s.action},
	} {
		if *into.compiled, err = schema.New(name+".json", []byte(into.text)); err != nil {
			return schemas{}, err
		}
	}
	return s, nil
}

type success struct {
	Success  bool `json:"success"`
	Received *int `json:"received,omitempty"`
	Total    *int `json:"total,omitempty"`
}

// progress stores what Claude is doing and tells the user.
func (h *Handler) progress(in *call) (any, error) {
	activity, ok := readActivity(in.payload)
	if !ok {
		if details := h.schemas.progress.Validate(in.payload); details != nil {
			return nil, h.wrongPayload(in, details)
		}
	}
	text, err := json.Marshal(activity)
	if err != nil {
		return nil, err
	}
	outcome, err := h.store.Progress(in.ctx, in.id, in.facts, text, job.ActivityDigest(text))
	if err != nil {
		return nil, err
	}
	if outcome != store.Accepted {
		return nil, in.refused(outcome)
	}
	return success{Success: true}, nil
}

// readActivity reads a progress report and fills in the seed's defaults. ok says
// that it certainly fits the schema: most callbacks are such reports, and asking
// the schema costs more than all else. A test holds the two together.
func readActivity(payload map[string]any) (a job.Activity, ok bool) {
	a = job.Activity{Type: job.Querying, Progress: 50}
	a.Message, ok = payload["message"].(string)
	ok = ok && a.Message != "" && len(a.Message) <= 2000
	if v, present := payload["type"]; present {
		text, _ := v.(string)
		a.Type = job.ActivityType(text)
		ok = ok && (a.Type == job.Thinking || a.Type == job.Querying || a.Type == job.Results)
	}
	if v, present := payload["progress"]; present {
		n, _ := v.(json.Number)
		var err error
		a.Progress, err = n.Float64()
		ok = ok && err == nil && a.Progress >= 0 && a.Progress <= 100
	}
	return a, ok
}

// failure ends a job, or this attempt of it, because Claude says that it
// cannot do it.
func (h *Handler) failure(in *call) (any, error) {
	if details := h.schemas.failure.Validate(in.payload); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	message, _ := in.payload["error"].(string)
	code, ok := in.payload["errorCode"].(string)
	if !ok {
		code = string(job.CodeGaveUp)
	}
	retryable, _ := in.payload["retryable"].(bool)
	outcome, err := h.store.GiveUp(in.ctx, in.id, job.Code(code), message, retryable)
	if err != nil {
		return nil, err
	}
	if outcome != store.Accepted && outcome != store.Repeated {
		return nil, in.refused(outcome)
	}
	return success{Success: true}, nil
}
