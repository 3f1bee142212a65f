package callback

import (
	"ringback/internal/job"
)

const failureSchema = `{
  "type": "object",
  "required": ["error"],
  "properties": {
    "error": {"type": "string", "minLength": 1, "maxLength": 2000},
    "errorCode": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"},
    "retryable": {"type": "boolean"}
  },
  "additionalProperties": false
}`

// failure ends a job, or this attempt of it, because Claude reports that it cannot do
// it.
func (h *Handler) failure(in *call) (any, error) {
	if details := in.fits(h.schemas[failureSchema]); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	message, _ := in.payload["error"].(string)
	code, ok := in.payload["errorCode"].(string)
	if !ok {
		code = string(job.CodeGaveUp)
	}
	retryable, _ := in.payload["retryable"].(bool)
	outcome, err := h.jobs.ReportFailure(in.ctx, in.id, job.Code(code), message, retryable)
	return success{Success: true}, in.outcomeError(outcome, err)
}
