package callback

import (
	"context"
	"encoding/json"
	"errors"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
)

const checkpointSchema = `{
  "type": "object",
  "required": ["type", "message"],
  "properties": {
    "type": {"enum": ["error_recovery", "information_request", "form_requirements", "confirmation"],
      "description": "The type of the question."},
    "message": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "The question to the user."},
    "props": {"type": "object", "description": "Details of the question, by its type."}
  },
  "additionalProperties": false
}`

// answeredCheckpoint contains the reply for Claude.
type answeredCheckpoint struct {
	Status string `json:"status"` // Always "answered".
	// CheckpointID is the answered checkpoint. In the output of Claude's call, it shows that the call
	// has received the reply.
	CheckpointID job.CheckpointID `json:"checkpointId"`
	Reply        *job.Reply       `json:"reply"`
	withMessages
}

// parkedCheckpoint makes Claude stop.
type parkedCheckpoint struct {
	Status      string `json:"status"`      // Always "parked".
	Instruction string `json:"instruction"` // What Claude must do: end its turn.
}

const stopNow = "No one has answered yet. The question stays open, and you will be called again in this conversation with the reply. " +
	"Stop now: end your turn without doing or submitting anything else."

// checkpoint asks the user Claude's question and waits a while for the reply. Then the
// job parks.
func (h *Handler) checkpoint(in *call) (json.RawMessage, error) {
	if err := h.check(in, checkpointSchema); err != nil {
		return nil, err
	}
	var a checkpoint.Request
	if in.payload["props"] != nil {
		a.Props = job.Member(json.RawMessage(in.text), "props") // the fields of its schema have an order
	}
	kind, _ := in.payload["type"].(string)
	a.Type = job.CheckpointType(kind)
	a.Message, _ = in.payload["message"].(string)
	id, c, err := h.ask(in, a)
	if e, ok := errors.AsType[*job.Error](err); ok && e.Details != nil {
		return nil, h.wrongPayload(in, e.Details)
	}
	switch {
	case err != nil:
		return nil, err
	case c.Status != job.Answered:
		return job.MustJSON(parkedCheckpoint{"parked", stopNow}), nil
	}
	h.acks(in, id)
	return job.MustJSON(answeredCheckpoint{Status: "answered", CheckpointID: c.ID, Reply: c.Reply}), nil
}

// ask asks the job's user, and waits a while for the reply. It returns the id of the question, and the
// checkpoint, which is another one if the question was asked again: answered, or still open if no one
// has replied. An error has details if the question is not valid.
func (h *Handler) ask(in *call, a checkpoint.Request) (id job.CheckpointID, c job.Checkpoint, err error) {
	a.RequestID, a.UserID, a.SessionID, a.Hold = in.id, in.header.UserID, in.header.SessionID, true
	outcome, asked, err := h.checkpoints.Ask(in.ctx, a)
	if err := in.outcomeError(outcome, err); err != nil {
		return "", c, err
	}
	c, err = h.checkpoints.Hold(in.ctx, asked.ID)
	switch {
	case err != nil:
	case c.Status == job.CheckpointExpired:
		err = in.late(job.Expired)
	case c.Status == job.CheckpointCancelled, c.Status == job.Answered && c.Reply.Decision == job.Cancel:
		err = in.late(job.Cancelled)
	}
	return asked.ID, c, err
}

// acks records that the answer gives Claude a person's reply, once it has left. If it does not, the same
// question gets the same answer again, and the person is not asked twice.
func (h *Handler) acks(in *call, id job.CheckpointID) {
	in.whenSent(func(ctx context.Context) error { return h.jobs.AckReply(ctx, in.id, id) })
}
