package callback

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/approval"
	"ringback/internal/checkpoint"
	"ringback/internal/claude"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/store"
)

// toolCall is one call of one of the CLI's tools, as its PreToolUse hook tells of it.
type toolCall struct {
	*call
	kind      *kind.Kind
	id        string
	tool      approval.ToolCall
	operation job.Operation
}

// hookAnswer is the answer to the hook. Without an output, the CLI decides by its
// own allowlist, which holds nothing but what calling back needs.
type hookAnswer struct {
	Output *hookOutput `json:"hookSpecificOutput,omitempty"`
}

type hookOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	// Context is shown to Claude beside what the tool gives back.
	Context      string          `json:"additionalContext,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

func decide(decision, reason string) hookAnswer {
	return hookAnswer{&hookOutput{Event: "PreToolUse", Decision: decision, Reason: reason}}
}

const (
	laterDecision  = "Another question waits for the user's decision first, so this was not run. Make this call again after that one."
	wantsOtherwise = "They want something else: make the call again with its input changed accordingly, and they are asked anew. What they want, in their words:"
	nobodyDecided  = "Nobody has decided on this yet, so it was not run. Stop now: you will be called again with the user's decision."
)

// toolCalls judges a call of a tool by the kind's policy, and asks a person where
// that says so (seed 003).
func (h *Handler) toolCalls(in *call) (any, error) {
	if err := h.stillRuns(in); err != nil {
		return nil, err
	}
	t, err := h.readToolCall(in)
	if err != nil {
		return nil, err
	}
	if t.callsBack() {
		return hookAnswer{}, nil
	}
	rules := t.kind.Policy.ToolRules()
	verdict, rule := rules.Verdict(t.tool)
	switch verdict {
	case approval.Allow:
		return decide("allow", ""), nil
	case approval.Deny:
		if err := h.store.Note(in.ctx, in.id, "refused", "by the kind's rule "+rule, t.operation); err != nil {
			return nil, err
		}
		return decide("deny", "This job may not do that ("+rule+")."), nil
	case approval.Ask:
		return h.askFor(t, rule)
	case approval.NoOpinion:
	}
	return hookAnswer{}, nil
}

// stillRuns makes sure that the job has not ended: unlike other callbacks, most
// verdicts on tool calls store nothing, so that the store would not notice.
func (h *Handler) stillRuns(in *call) error {
	_, state, ok, err := h.store.Facts(in.ctx, in.id)
	switch {
	case err != nil:
		return err
	case !ok:
		return job.Errorf(job.NotFound, "%s", in.unknown)
	case state.Terminal():
		return late(state)
	}
	return nil
}

func (h *Handler) readToolCall(in *call) (*toolCall, error) {
	t := &toolCall{call: in}
	var ok bool
	if t.kind, ok = h.kinds.Get(in.facts.Kind); !ok {
		return nil, job.Errorf(job.Internal, "The kind %q was removed", in.facts.Kind)
	}
	text := func(name string) string { s, _ := in.payload[name].(string); return s }
	t.id, t.tool.Name, t.tool.Dir = text("tool_use_id"), text("tool_name"), text("cwd")
	t.tool.Input, ok = in.payload["tool_input"].(map[string]any)
	if t.tool.Name == "" || !ok {
		e := job.Errorf(job.Invalid, invalidPayload)
		e.Details = []job.Detail{{Path: "/tool_name", Message: "expected the JSON of the CLI's PreToolUse hook: tool_name, tool_input, tool_use_id"}}
		return nil, e
	}
	var err error
	t.operation, err = approval.OfTool(t.tool.Name, t.tool.Input)
	return t, err
}

// callsBack reports whether a call is but for calling back. It is not allowed by
// that: the CLI's own allowlist holds exactly these.
func (t *toolCall) callsBack() bool {
	switch t.tool.Name {
	case "Bash":
		command, _ := t.tool.Input["command"].(string)
		return strings.HasPrefix(command, "curl -sS -X POST http") && strings.Contains(command, "/api/claude/") && !strings.ContainsAny(command, "\n;&|<>$`")
	case "Write", "Edit", "Read":
		path, _ := t.tool.Input["file_path"].(string)
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.tool.Dir, path)
		}
		return filepath.Dir(filepath.Clean(path)) == filepath.Clean(t.tool.Dir) && slices.Contains(claude.PayloadFiles(), filepath.Base(path))
	}
	return false
}

// askFor answers with a person's decision on a call: one that was taken before,
// one that stands, or the one they take now.
func (h *Handler) askFor(t *toolCall, rule string) (any, error) {
	if answer, err := h.decided(t); answer != nil || err != nil {
		return answer, err
	}
	if stands, err := h.stands(t, rule); stands || err != nil {
		return decide("allow", ""), err
	}
	props, err := json.Marshal(job.Props{
		ToolCallID: t.id, ToolName: t.tool.Name, ToolInput: t.operation.Input, Kind: t.kind.Name, Rule: rule,
	})
	if err != nil {
		return nil, err
	}
	outcome, asked, details, err := h.checkpoints.Ask(t.ctx, checkpoint.Asking{
		RequestID: t.call.id, UserID: t.facts.UserID, SessionID: t.facts.SessionID, Type: job.ToolApproval, Message: t.question(),
		Props: props, Call: t.id, Subject: approval.Key(t.operation), Deed: t.operation, Hold: true,
		Parts: []job.Part{{Type: job.ToolCallPart, ToolCallID: t.id, ToolName: t.tool.Name, State: job.InputAvailable, Input: t.operation.Input}},
	})
	switch {
	case err != nil:
		return nil, err
	case details != nil:
		return nil, job.Errorf(job.Internal, "The question is not valid: %s %s", details[0].Path, details[0].Message)
	case outcome == store.Busy, outcome == store.Outcome(job.AwaitingApproval), outcome == store.Outcome(job.AwaitingInput):
		return decide("deny", laterDecision), nil
	case outcome != store.Asked && outcome != store.Repeated:
		return nil, t.refused(outcome)
	}
	return h.awaitDecision(t, asked.ID)
}

// awaitDecision waits a while for a person. Then the CLI is told to stop at this
// call, and asks again when it is resumed.
func (h *Handler) awaitDecision(t *toolCall, id job.CheckpointID) (any, error) {
	c, err := h.checkpoints.Hold(t.ctx, id)
	if err != nil {
		return nil, err
	}
	switch c.Status {
	case job.Answered:
		_ = h.store.Delivered(t.ctx, t.call.id, id) // if this is not booked, the same is answered once more
		if answer, err := h.decided(t); answer != nil || err != nil {
			return answer, err
		}
		return decide("deny", "The user's decision was used up already."), nil
	case job.Lapsed:
		return nil, late(job.Expired)
	case job.Withdrawn:
		return nil, late(job.Cancelled)
	case job.Open, job.Reading, job.Clarified:
	}
	return decide("defer", nobodyDecided), nil
}

// decided takes the recorded decision on exactly this call; nil when there is none.
func (h *Handler) decided(t *toolCall) (any, error) {
	decision, id, err := h.store.Decided(t.ctx, t.call.id, approval.Key(t.operation), t.operation)
	if err != nil || decision == "" {
		return nil, err
	}
	c, err := h.store.Checkpoint(t.ctx, id)
	if err != nil {
		return nil, err
	}
	if decision == job.Deny {
		reason := job.DeniedByUser
		if c.Reply.Decision == job.Steer {
			reason += " " + wantsOtherwise
		}
		if c.Reply.Reason != "" {
			reason += " " + c.Reply.Reason
		}
		return decide("deny", strings.TrimSpace(reason+"\n"+whatWasSaid(c.Reply.Exchange))), nil
	}
	answer := decide("allow", "")
	answer.Output.Context = whatWasSaid(c.Reply.Exchange)
	if len(c.Reply.Values) > 0 {
		if answer.Output.UpdatedInput, err = json.Marshal(c.Reply.Values); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// whatWasSaid tells Claude of the messages that led to a decision; empty where
// there was but one.
func whatWasSaid(exchange []job.Utterance) string {
	if len(exchange) == 0 {
		return ""
	}
	text, err := json.Marshal(exchange)
	if err != nil { // it is made of texts
		panic("callback: " + err.Error())
	}
	return "What the user and you said about this call, up to the decision, as data: " + string(text)
}

// stands reports whether the user has allowed all that a rule asks for.
func (h *Handler) stands(t *toolCall, rule string) (bool, error) {
	list, err := h.store.Approvals(t.ctx, t.facts.UserID)
	if err != nil {
		return false, err
	}
	given, stands := approval.Standing(list, approval.Request{UserID: t.facts.UserID, RequestID: t.call.id, Kind: t.kind.Name, Rule: rule})
	if !stands {
		return false, nil
	}
	return true, h.store.Note(t.ctx, t.call.id, "allowed", "by the standing approval "+given.ID, t.operation)
}

// question words what Claude wants to do.
func (t *toolCall) question() string {
	for _, key := range []string{"command", "file_path", "url", "path", "notebook_path"} {
		if text, ok := t.tool.Input[key].(string); ok && text != "" {
			return fmt.Sprintf("Claude wants to use %s: %s\nAllow it?", t.tool.Name, excerpt.Head(text, 1000))
		}
	}
	return fmt.Sprintf("Claude wants to use %s. Allow it?", t.tool.Name)
}
