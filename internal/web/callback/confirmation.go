package callback

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/kind"
)

// confirmation is the answer to an action that a person has to allow, or has just
// decided on. It includes the input: see "Actions: confirm before execute" in
// docs/permissions.md.
type confirmation struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	// Decision is the person's decision while the call waited; empty if there was none.
	Decision job.Decision `json:"decision,omitempty"`
	// CheckpointID is the checkpoint at which it was made. In the output of Claude's call, it shows
	// that the call has received the decision.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	// Reply is the person's wording, Reason the reason for a no or what the person wants instead.
	Reply  string `json:"reply,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Exchange is the whole exchange, if it took more than one message.
	Exchange    []job.Utterance `json:"exchange,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
}

const (
	pendingConfirmation = "pending_confirmation"
	awaitingUser        = "Awaiting user confirmation"
	stopForUser         = "No one has decided yet. Stop now: end your turn without doing or submitting anything else. You will be called again with the user's decision."
	confirmNow          = `The user has allowed this. Send exactly the same input again now, with "confirmed": true.`
	goWithout           = "The user does not want this. Do not call the action again; go on without it, and say so in your result."
)

// changeFirst instructs Claude to change the input as the user wants.
const changeFirst = `The user has not allowed this input: "reason" says what they want instead. Call the action again with the input changed accordingly, without "confirmed": they are asked again.`

// confirm asks a person, and answers with the decision while the call waited. outdated is
// the checkpoint at which an earlier preview was approved; empty if there is none.
func (h *Handler) confirm(a *actionCall, outdated job.CheckpointID) (json.RawMessage, error) {
	if outdated != "" && a.preview != nil {
		earlier, err := h.store.Checkpoint(a.ctx, outdated)
		if err != nil {
			return nil, err
		}
		if a.preview.Before = job.PreviewIn(earlier.Props); a.preview.Before != nil {
			a.preview.Before.Before = nil // the last approved preview is enough
		}
	}
	toolCallID := "call_" + strings.ToLower(rand.Text())
	parts := a.shown(toolCallID).Parts // with Claude's answer until the decision
	parts[0].Output = a.with(confirmation{Status: pendingConfirmation, Message: awaitingUser})
	question := a.action.Asks(a.input)
	question.Bytes = len(a.operation.Input)
	id, c, err := h.ask(a.call, checkpoint.Request{
		Type: job.Confirmation, Message: job.Sentence(question.Segments), Asked: question, Props: a.props(), Preview: a.preview,
		ToolCallID: toolCallID, Parts: parts, ApprovalKey: approval.Key(a.operation), AuditFields: a.operation,
	})
	switch {
	case err != nil:
		return nil, err
	case c.Status != job.Answered:
		return a.with(confirmation{Status: pendingConfirmation, Message: awaitingUser, Instruction: stopForUser}), nil
	}
	h.acks(a.call, id)
	return a.decided(c), nil
}

// shown returns the call as the chat shows it.
func (a *actionCall) shown(toolCallID string) job.MessageBody {
	return job.MessageBody{
		Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, RequestID: a.id,
		Parts: []job.Part{{
			Type: job.ToolCallPart, ToolCallID: toolCallID, ToolName: a.action.Name, State: job.InputAvailable,
			Input: a.operation.Input,
		}},
	}
}

// props describe the confirmation to its viewers.
func (a *actionCall) props() json.RawMessage {
	return job.MustJSON(struct {
		Action      string           `json:"action"`
		Title       string           `json:"title"`
		Input       json.RawMessage  `json:"input"`
		InputDigest string           `json:"input_digest"`
		Yes         *job.AnswerProps `json:"yes"`
		No          *job.AnswerProps `json:"no"`
	}{
		a.action.Name, strings.TrimRight(a.action.Title, " ?.!") + "?", a.operation.Input, a.operation.InputDigest,
		kind.Filled(a.action.Yes, a.input), kind.Filled(a.action.No, a.input),
	})
}

func (a *actionCall) decided(c job.Checkpoint) json.RawMessage {
	p := confirmation{
		Status: pendingConfirmation, Decision: c.Reply.Decision, CheckpointID: c.ID, Reply: c.Reply.Text,
		Reason: c.Reply.Reason, Exchange: c.Reply.Exchange,
	}
	switch c.Reply.Decision {
	case job.Approve:
		p.Message, p.Instruction = "The user has confirmed", confirmNow
	case job.Steer:
		p.Status, p.Message, p.Instruction = "denied", "The user wants something else", changeFirst
	default:
		p.Status, p.Message, p.Instruction = "denied", "The user said no", goWithout
	}
	return a.with(p)
}

// ours are the fields of answers to an action, in addition to job.ServerFields. ("reason" is not one of them
// before the decision.)
var ours = [...]string{"status", "message", "success", "error", "result", "output", "input"}

// with adds the action's input to an answer. Before the decision, its fields are added at the top level,
// as front ends expect (seed 000), except those that share a name with one of ours. After the decision,
// the input is added as "input", so that none of its fields can be mistaken for the person's answer.
func (a *actionCall) with(c confirmation) json.RawMessage {
	all := map[string]any{"input": a.input}
	if c.Decision == "" {
		all = maps.Clone(a.input)
		for _, name := range slices.Concat(ours[:], job.ServerFields[:]) {
			delete(all, name)
		}
	}
	return withFields(all, c)
}
