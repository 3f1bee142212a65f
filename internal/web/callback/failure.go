package callback

import (
	"cmp"
	"encoding/json"
	"fmt"

	"ringback/internal/job"
)

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
