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
	withMessages
}

// progress stores Claude's progress and publishes it to the user.
func (h *Handler) progress(in *call) (json.RawMessage, error) {
	if err := h.check(in, progressSchema); err != nil {
		return nil, err
	}
	activity := job.Activity{Type: job.Querying, Progress: 50}
	activity.Message, _ = in.payload["message"].(string)
	if phase, given := in.payload["type"].(string); given {
		activity.Type = job.ActivityType(phase)
	}
	if percent, given := in.payload["progress"].(json.Number); given {
		activity.Progress, _ = percent.Float64() // the schema accepts only numbers that fit
	}
	text := job.MustJSON(activity)
	outcome, err := h.store.Progress(in.ctx, in.id, in.header, text, job.ActivityDigest(text))
	in.quiet = !outcome.Waiting
	return stored, in.outcomeError(outcome, err)
}
