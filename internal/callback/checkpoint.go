package callback

import (
	"encoding/json"

	"ringback/internal/checkpoint"
	"ringback/internal/job"
)

const checkpointSchema = `{
  "type": "object",
  "required": ["type", "message"],
  "properties": {
    "type": {"enum": ["error_recovery", "information_request", "form_requirements", "confirmation"]},
    "message": {"type": "string", "minLength": 1, "maxLength": 4000},
    "props": {"type": "object"}
  },
  "additionalProperties": false
}`

// answeredCheckpoint contains the reply for Claude. parkedCheckpoint makes Claude stop.
type answeredCheckpoint struct {
	Status string `json:"status"`
	// CheckpointID is the answered checkpoint. In the output of Claude's call, it shows that the call
	// has received the reply.
	CheckpointID job.CheckpointID `json:"checkpointId"`
	Reply        *job.Reply       `json:"reply"`
	told
}

type parkedCheckpoint struct {
	Status      string `json:"status"`
	Instruction string `json:"instruction"`
}

const stopNow = "No one has answered yet. The question stays open, and you will be called again in this conversation with the reply. " +
	"Stop now: end your turn without doing or submitting anything else."

// checkpoint asks the user Claude's question and waits a while for the reply. Then the
// job parks.
func (h *Handler) checkpoint(in *call) (any, error) {
	if details := in.fits(h.schemas.checkpoint); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	asking, err := in.asking()
	if err != nil {
		return nil, err
	}
	outcome, asked, details, err := h.checkpoints.Ask(in.ctx, asking)
	switch {
	case err != nil:
		return nil, err
	case details != nil:
		return nil, h.wrongPayload(in, details)
	case !outcome.OK():
		return nil, in.refused(outcome)
	}
	return h.await(in, asked.ID)
}

func (in *call) asking() (checkpoint.Request, error) {
	props, err := json.Marshal(in.payload["props"])
	if err != nil || in.payload["props"] == nil {
		props = nil
	}
	kind, _ := in.payload["type"].(string)
	message, _ := in.payload["message"].(string)
	return checkpoint.Request{
		RequestID: in.id, UserID: in.header.UserID, SessionID: in.header.SessionID, Type: job.CheckpointType(kind),
		Message: message, Props: props, Hold: true,
	}, err
}

// await answers a call that asks with the outcome of its checkpoint.
func (h *Handler) await(in *call, id job.CheckpointID) (any, error) {
	c, err := h.checkpoints.Hold(in.ctx, id)
	if err != nil {
		return nil, err
	}
	switch c.Status {
	case job.Answered:
		if c.Reply.Decision == job.Cancel {
			return nil, late(job.Cancelled)
		}
		return h.acked(in, id, answeredCheckpoint{Status: "answered", CheckpointID: c.ID, Reply: c.Reply})
	case job.CheckpointExpired:
		return nil, late(job.Expired)
	case job.CheckpointCancelled:
		return nil, late(job.Cancelled)
	default:
	}
	return parkedCheckpoint{"parked", stopNow}, nil
}

// acked returns an answer that gives Claude a person's reply. The delivery is booked once
// the answer is written. If that fails, the same question gets the same answer again, and
// the person is not asked twice.
func (h *Handler) acked(in *call, id job.CheckpointID, answer any) (any, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return response{text, func() { _ = h.jobs.AckReply(in.ctx, in.id, id) }}, nil
}
