package callback

import (
	"encoding/json"

	"ringback/internal/job"
)

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
	told
}

// progress stores Claude's progress and publishes it to the user.
func (h *Handler) progress(in *call) (json.RawMessage, error) {
	in.dropNulls()
	activity, ok := readActivity(in.payload)
	if !ok {
		if details := h.schemas[progressSchema].Validate(in.payload); details != nil {
			return nil, h.wrongPayload(in, details)
		}
	}
	text := job.MustJSON(activity)
	outcome, err := h.store.Progress(in.ctx, in.id, in.header, text, job.ActivityDigest(text))
	in.quiet = !outcome.Waiting
	return stored, in.outcomeError(outcome, err)
}

// readActivity reads a progress report and sets defaults. If ok is true, the report
// fits the schema: most callbacks are such reports, and validating with the schema is
// the most expensive part. A test checks that both agree.
func readActivity(payload map[string]any) (a job.Activity, ok bool) {
	a = job.Activity{Type: job.Querying, Progress: 50}
	known := 1
	a.Message, ok = payload["message"].(string)
	ok = ok && a.Message != "" && len(a.Message) <= 2000
	if v, present := payload["type"]; present {
		known++
		text, _ := v.(string)
		a.Type = job.ActivityType(text)
		ok = ok && (a.Type == job.Thinking || a.Type == job.Querying || a.Type == job.Results)
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
