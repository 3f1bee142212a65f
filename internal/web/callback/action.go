package callback

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/action"
)

const actionSchema = `{
  "type": "object",
  "required": ["input"],
  "properties": {
    "input": {"type": "object", "description": "The input of the action."},
    "confirmed": {"type": "boolean", "description": "True only after the user has allowed exactly this input; default false."}
  },
  "additionalProperties": false
}`

type actionCall struct {
	*call
	kind   *kind.Kind
	action *kind.Action
	input  map[string]any
	// confirmed is true if Claude states that a person has allowed the call.
	confirmed bool
	operation job.Operation
	// preview is the preview of the action, generated at previewedAt; nil for an action without one.
	preview     *job.Preview
	previewedAt time.Time
}

// action runs an action of the kind, if a person has allowed it or none has to.
// Claude's "confirmed" only decides between running and asking: the store starts a run
// only after a recorded yes to exactly this input, and uses up that yes.
func (h *Handler) action(in *call) (json.RawMessage, error) {
	if err := h.check(in, actionSchema); err != nil {
		return nil, err
	}
	a, err := h.readActionCall(in)
	if err != nil {
		return nil, err
	}
	if !h.actions.Here(a.run()) { // before anyone is asked, and before a yes is used up
		return nil, job.Errorf(job.Unavailable, "The files of this job are on another node, and the command of %s runs where they are",
			a.action.Name).WithHint("Make the same call again: another node may answer it.")
	}
	gated := a.action.NeedsApproval(a.input)
	if gated && !a.confirmed {
		run, err := h.jobs.UnreadRun(in.ctx, in.id, approval.Key(a.operation))
		if err != nil {
			return nil, err
		}
		if run != "" {
			return h.outcomeOf(a, run)
		}
	}
	var noPreview error
	if gated {
		noPreview = h.makePreview(a)
	}
	switch {
	case gated && !a.confirmed && noPreview != nil:
		return h.previewFailed(a, noPreview), nil
	case gated && !a.confirmed:
		return h.confirm(a, "")
	}
	return h.startAction(a, gated, noPreview)
}

// startAction runs an action, unless it is gated and no person has allowed it. noPreview is why its preview failed.
func (h *Handler) startAction(a *actionCall, gated bool, noPreview error) (json.RawMessage, error) {
	run := lifecycle.RunID("run_" + strings.ToLower(rand.Text()))
	outcome, run, about, err := h.jobs.StartAction(a.ctx, lifecycle.NewRun{
		RequestID: a.id, Run: run, ApprovalKey: approval.Key(a.operation), AuditFields: a.operation,
		Chat: a.shown(string(run)), Timeout: a.action.Timeout, Gated: gated,
	})
	switch {
	case err != nil:
		return nil, err
	case outcome.Kind == lifecycle.Unapproved && noPreview != nil:
		return h.previewFailed(a, noPreview), nil
	case outcome.Kind == lifecycle.Unapproved:
		h.log.WarnContext(a.ctx, "action refused", "requestId", a.id, "action", a.action.Name, "reason", outcome.Reason)
		return h.confirm(a, outcome.Outdated)
	case !outcome.OK():
		return nil, a.refused(outcome)
	case outcome.Kind == lifecycle.Accepted:
		if a.input, err = approval.InputOf(about); err != nil {
			return nil, err
		}
		started := a.run()
		started.ID = run
		h.actions.Start(started)
	}
	return h.outcomeOf(a, run)
}

func (a *actionCall) run() action.Run {
	return action.Run{
		RequestID: a.id, Header: a.header, Kind: a.kind.Name, Dir: a.kind.Dir, Action: a.action,
		Tools: a.kind.Policy.ToolRules(), Input: a.input,
		Preview: a.preview, PreviewedAt: a.previewedAt,
	}
}

// makePreview generates the preview of the call, and binds the call to it.
func (h *Handler) makePreview(a *actionCall) error {
	begin := time.Now()
	made, err := h.actions.Preview(a.ctx, a.run())
	switch {
	case err != nil:
		a.operation.PreviewDigest = "none" // no approval has it
		return err
	case made != nil:
		a.preview, a.previewedAt, a.operation.PreviewDigest = made, begin, made.Digest
	}
	return nil
}

// previewFailed reports to Claude that no person was asked, because there is nothing to show them.
func (h *Handler) previewFailed(a *actionCall, err error) json.RawMessage {
	h.log.WarnContext(a.ctx, "preview failed", "requestId", a.id, "action", a.action.Name, "error", err)
	return job.MustJSON(map[string]any{
		"status": "error", "success": false,
		"message":     "The preview of " + a.action.Name + " failed, so no one was asked, and nothing ran: " + err.Error(),
		"instruction": "If the input is the reason, correct it and call the action again. Otherwise continue without it, and mention that in your result.",
	})
}

func (h *Handler) readActionCall(in *call) (*actionCall, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	a := &actionCall{call: in, kind: k}
	var ok bool
	if a.action, ok = a.kind.Action(in.name); !ok {
		return nil, job.Errorf(job.NotFound, "Unknown action %q", in.name).WithHint("%s", actionsOf(a.kind))
	}
	a.input, _ = a.payload["input"].(map[string]any)
	a.confirmed, _ = a.payload["confirmed"].(bool)
	// Claude may also put confirmed into the input, like a parameter of the action: no kind can declare a field
	// of that name.
	if confirmed, isBool := a.input["confirmed"].(bool); isBool {
		delete(a.input, "confirmed")
		a.confirmed = a.confirmed || confirmed
	}
	details := a.action.Schema().Validate(a.input)
	if details == nil { // a yes to it could not be used
		details = action.InputFaults(a.action, a.input)
	}
	if details != nil {
		return nil, h.wrongPayload(in, job.Under("/input", details))
	}
	a.operation, err = approval.OfAction(a.action.Name, a.input)
	return a, err
}

func actionsOf(k *kind.Kind) string {
	if len(k.Policy.Actions) == 0 {
		return "This kind of job has no actions."
	}
	names := make([]string, len(k.Policy.Actions))
	for i, a := range k.Policy.Actions {
		names[i] = a.Name
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

// outcomeOf waits for the end of a run and answers with its result.
func (h *Handler) outcomeOf(a *actionCall, run lifecycle.RunID) (json.RawMessage, error) {
	ended, err := h.actions.Await(a.ctx, a.id, run, h.opts.Hold+actionWait)
	if err != nil {
		return nil, err
	}
	switch ended.State {
	case lifecycle.RunRunning:
		return job.MustJSON(map[string]any{
			"status": "running", "message": a.action.Title + " is still running",
			"instruction": "Send exactly the same call again to wait for its result.",
		}), nil
	case lifecycle.RunUnknown:
		if len(ended.Result) == 0 {
			ended.Result = job.MustJSON(map[string]any{
				"status": "error", "success": false,
				"message": "The server was interrupted while " + a.action.Name + " was running" + lifecycle.NotKnown,
			})
		}
	default:
	}
	a.whenSent(func(ctx context.Context) error {
		return h.jobs.AckActionResult(ctx, a.id, approval.Key(a.operation), run)
	})
	return ended.Result, nil
}

// actionWait is the time, in addition to HOLD, that a call waits for an action; curl
// waits a little longer.
const actionWait = 10 * time.Second

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
		earlier, err := h.store.Checkpoints.Get(a.ctx, outdated)
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
