package callback

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"ringback/internal/action"
	"ringback/internal/approval"
	"ringback/internal/checkpoint"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/store"
)

const actionSchema = `{
  "type": "object",
  "required": ["input"],
  "properties": {
    "input": {"type": "object"},
    "confirmed": {"type": "boolean"}
  },
  "additionalProperties": false
}`

// pending is the answer to an action that a person has to allow, or has just
// decided on. The input's fields stand beside it (seed 000).
type pending struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	// Decision is what the person said while the call waited; empty if nobody did.
	Decision job.Decision `json:"decision,omitempty"`
	// Reply is how they said it, Reason why they said no or what they want instead.
	Reply  string `json:"reply,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Exchange is all they said, where it took more than that.
	Exchange    []job.Utterance `json:"exchange,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
}

const (
	pendingConfirmation = "pending_confirmation"
	awaitingUser        = "Awaiting user confirmation"
	stopForUser         = "Nobody has decided yet. Stop now: end your turn without doing or submitting anything else. You will be called again with the user's decision."
	confirmNow          = `The user has allowed this. Send exactly the same input again now, with "confirmed": true.`
	goWithout           = "The user does not want this. Do not call the action again; go on without it, and say so in your result."
)

// changeFirst is what Claude does where the user wants something else.
const changeFirst = `The user has not allowed this input: "reason" says what they want instead. Call the action again with the input changed accordingly, without "confirmed": they are asked anew.`

// act is one call of an action.
type act struct {
	*call
	kind      *kind.Kind
	action    *kind.Action
	input     map[string]any
	operation job.Operation
}

// action runs an action of the kind, if a person has allowed it where one must.
func (h *Handler) action(in *call) (any, error) {
	if details := h.schemas.action.Validate(in.payload); details != nil {
		return nil, h.wrongPayload(in, details)
	}
	a, err := h.readAct(in)
	if err != nil {
		return nil, err
	}
	confirmed, _ := in.payload["confirmed"].(bool)
	gated := a.action.NeedsApproval(a.input)
	if gated && !confirmed {
		return h.confirm(a)
	}
	run := store.RunID("run_" + strings.ToLower(rand.Text()))
	outcome, run, err := h.store.Act(in.ctx, store.Act{
		UserID: in.facts.UserID, SessionID: in.facts.SessionID, Chat: a.shown(string(run)),
		RequestID: in.id, Run: run, Subject: approval.Key(a.operation), Deed: a.operation, Timeout: a.action.Timeout, Gated: gated,
	})
	switch {
	case err != nil:
		return nil, err
	case outcome == store.Unapproved:
		return h.unapproved(a, string(run))
	case outcome == store.Started:
		h.actions.Start(action.Run{ID: run, RequestID: in.id, Facts: in.facts, Kind: a.kind.Name, Dir: a.kind.Dir, Action: a.action, Input: a.input})
	case outcome != store.Known:
		return nil, in.refused(outcome)
	}
	return h.outcomeOf(a, run)
}

func (h *Handler) readAct(in *call) (*act, error) {
	a := &act{call: in}
	var ok bool
	if a.kind, ok = h.kinds.Get(in.facts.Kind); !ok {
		return nil, job.Errorf(job.Internal, "The kind %q was removed", in.facts.Kind)
	}
	if a.action, ok = a.kind.Action(in.name); !ok {
		return nil, job.Errorf(job.NotFound, "Unknown action %q", in.name).WithHint("%s", actionsOf(a.kind))
	}
	a.input, _ = in.payload["input"].(map[string]any)
	if details := a.action.Schema().Validate(a.input); details != nil {
		for i := range details {
			details[i].Path = "/input" + details[i].Path
		}
		return nil, h.wrongPayload(in, details)
	}
	var err error
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

// unapproved notes that something was claimed to be confirmed which nobody has
// allowed, and asks.
func (h *Handler) unapproved(a *act, why string) (any, error) {
	detail := "confirmed was claimed, but nobody has allowed this input"
	if why == "expired" {
		detail = "the approval has expired"
	}
	h.log.Warn("refused an action", "requestId", a.id, "action", a.action.Name, "why", detail)
	if why != "expired" { // that is in the audit log already
		if err := h.store.Note(a.ctx, a.id, "refused", detail, a.operation); err != nil {
			return nil, err
		}
	}
	return h.confirm(a)
}

// confirm asks a person, and answers with what they said while the call waited.
func (h *Handler) confirm(a *act) (any, error) {
	call := "call_" + strings.ToLower(rand.Text())
	parts, err := a.awaiting(call)
	if err != nil {
		return nil, err
	}
	outcome, asked, details, err := h.checkpoints.Ask(a.ctx, checkpoint.Asking{
		Call: call, Parts: parts,
		RequestID: a.id, UserID: a.facts.UserID, SessionID: a.facts.SessionID, Type: job.Confirmation,
		Message: kind.Fill(a.action.Question, a.input), Props: a.props(), Subject: approval.Key(a.operation), Deed: a.operation, Hold: true,
	})
	switch {
	case err != nil:
		return nil, err
	case details != nil:
		return nil, job.Errorf(job.Internal, "The question of action %s is not valid: %s %s", a.action.Name, details[0].Path, details[0].Message)
	case outcome != store.Asked && outcome != store.Repeated:
		return nil, a.refused(outcome)
	}
	c, err := h.checkpoints.Hold(a.ctx, asked.ID)
	if err != nil {
		return nil, err
	}
	switch c.Status {
	case job.Answered:
		_ = h.store.Delivered(a.ctx, a.id, asked.ID) // if this is not booked, the same is answered once more
		return a.decided(c)
	case job.Lapsed:
		return nil, late(job.Expired)
	case job.Withdrawn:
		return nil, late(job.Cancelled)
	case job.Open, job.Reading, job.Clarified:
	}
	return a.with(pending{Status: pendingConfirmation, Message: awaitingUser, Instruction: stopForUser})
}

// shown is the call as the chat shows it (seed 003).
func (a *act) shown(call string) job.MessageBody {
	return job.MessageBody{
		Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, RequestID: a.id,
		Parts: []job.Part{{Type: job.ToolCallPart, ToolCallID: call, ToolName: a.action.Name, State: job.InputAvailable, Input: a.operation.Input}},
	}
}

// awaiting is the call while a person is asked, with what Claude is answered
// meanwhile (seed 000).
func (a *act) awaiting(call string) ([]job.Part, error) {
	output, err := a.with(pending{Status: pendingConfirmation, Message: awaitingUser})
	if err != nil {
		return nil, err
	}
	parts := a.shown(call).Parts
	parts[0].Output, err = json.Marshal(output)
	return parts, err
}

// props describe the confirmation to whoever shows it.
func (a *act) props() json.RawMessage {
	text, err := json.Marshal(struct {
		Action      string           `json:"action"`
		Title       string           `json:"title"`
		Input       json.RawMessage  `json:"input"`
		InputDigest string           `json:"input_digest"`
		Yes         *job.AnswerProps `json:"yes"`
		No          *job.AnswerProps `json:"no"`
	}{a.action.Name, asking(a.action.Title), a.operation.Input, a.operation.InputDigest, a.action.Yes.Filled(a.input), a.action.No.Filled(a.input)})
	if err != nil { // it is made of JSON
		panic("callback: " + err.Error())
	}
	return text
}

// asking makes a question of a title.
func asking(title string) string { return strings.TrimRight(title, " ?.!") + "?" }

func (a *act) decided(c job.Checkpoint) (any, error) {
	p := pending{Status: pendingConfirmation, Decision: c.Reply.Decision, Reply: c.Reply.Text, Reason: c.Reply.Reason, Exchange: c.Reply.Exchange}
	switch c.Reply.Decision {
	case job.Approve:
		p.Message, p.Instruction = "The user has confirmed", confirmNow
	case job.Cancel:
		return nil, late(job.Cancelled)
	case job.Steer:
		p.Status, p.Message, p.Instruction = "denied", "The user wants something else", changeFirst
	case job.Deny:
		p.Status, p.Message, p.Instruction = "denied", "The user said no", goWithout
	}
	return a.with(p)
}

// with puts the input's fields beside an answer.
func (a *act) with(p pending) (any, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(a.input)
	if all == nil {
		all = map[string]any{}
	}
	return all, json.Unmarshal(text, &all)
}

// outcomeOf waits for the end of a run and answers with its result.
func (h *Handler) outcomeOf(a *act, run store.RunID) (any, error) {
	ended, err := h.actions.Await(a.ctx, a.id, run, h.opts.Hold+actionWait)
	if err != nil {
		return nil, err
	}
	switch ended.State {
	case store.Acting:
		return map[string]any{
			"status": "running", "message": a.action.Title + " is still running",
			"instruction": "Send exactly the same call again to wait for its result.",
		}, nil
	case store.Unsure:
		if len(ended.Result) == 0 {
			ended.Result = unknownOutcome(a.action.Name)
		}
	case store.Succeeded, store.Erred:
	}
	return delivered{ended.Result, func() { _ = h.store.Heard(a.ctx, a.id, approval.Key(a.operation), run) }}, nil
}

// actionWait is how much longer than HOLD a call waits for an action: curl waits
// a little longer still.
const actionWait = 10 * time.Second

func unknownOutcome(name string) json.RawMessage {
	return fmt.Appendf(nil, `{"status":"error","success":false,"message":"The server was interrupted while %s was running. Whether it took effect is not known: do not run it again before the user has looked."}`, name)
}

// delivered is an answer that is told in full before it is noted as heard.
type delivered struct {
	json.RawMessage
	heard func()
}
