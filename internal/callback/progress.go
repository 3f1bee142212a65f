package callback

import (
	"encoding/json"

	"ringback/internal/job"
)

const progressSchema = `{
  "type": "object",
  "required": ["message"],
  "properties": {
    "message": {"type": "string", "minLength": 1, "maxLength": 2000},
    "progress": {"type": "number", "minimum": 0, "maximum": 100},
    "type": {"enum": ["thinking", "querying", "results"]}
  },
  "additionalProperties": false
}`

type success struct {
	Success bool `json:"success"`
}

// stored is success in JSON.
var stored any = json.RawMessage(`{"success":true}`)

// reported answers a progress report.
type reported struct {
	Success bool `json:"success"`
	told
}

// progress stores Claude's progress and publishes it to the user.
func (h *Handler) progress(in *call) (any, error) {
	if details := in.fits(h.schemas[progressSchema]); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	text := job.MustJSON(readActivity(in.payload))
	outcome, err := h.store.Progress(in.ctx, in.id, in.header, text, job.ActivityDigest(text))
	in.quiet = !outcome.Waiting
	return stored, in.outcomeError(outcome, err)
}

// readActivity reads a progress report that fits its schema, and sets defaults.
func readActivity(payload map[string]any) job.Activity {
	a := job.Activity{Type: job.Querying, Progress: 50}
	a.Message, _ = payload["message"].(string)
	if kind, ok := payload["type"].(string); ok {
		a.Type = job.ActivityType(kind)
	}
	if n, ok := payload["progress"].(json.Number); ok {
		a.Progress, _ = n.Float64()
	}
	return a
}
