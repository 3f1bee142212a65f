package callback

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"sync"

	"ringback/internal/approval"
	"ringback/internal/claude"
	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/lifecycle"
)

// toolCall is one call of one of the CLI's tools, as its PreToolUse hook tells of it.
type toolCall struct {
	*call
	kind *kind.Kind
	// toolCallID is what the CLI calls it.
	toolCallID string
	tool       approval.ToolCall
	operation  job.Operation
	// rule is the kind's rule by which a person is asked.
	rule string
}

// toolCallBody is the JSON of the CLI's hooks, as far as it is read. The envelope
// may come in headers, for the body is the CLI's to write.
type toolCallBody struct {
	// Event is the hook: PreToolUse asks whether a tool may be called, PostToolBatch tells that the
	// tools of a step have ended, Stop that Claude ends its turn. PreToolUse if it is left out.
	Event string `json:"hook_event_name,omitempty" jsonschema:"enum=PreToolUse,enum=PostToolBatch,enum=Stop"`
	// RequestID and HMAC are the envelope, where it does not come in the headers
	// X-Ringback-Request-Id and X-Ringback-Signature.
	RequestID job.ID        `json:"requestId,omitempty"`
	HMAC      job.Signature `json:"hmac,omitempty"`
	// ToolName is the tool, ToolInput what it is to be called with.
	ToolName  string         `json:"tool_name,omitempty"`
	ToolInput map[string]any `json:"tool_input,omitempty"`
	// ToolUseID is what the CLI calls this call.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// CWD is the directory where the tool would run.
	CWD string `json:"cwd,omitempty"`
	// ToolCalls are the calls of the step, with what they answered.
	ToolCalls []map[string]any `json:"tool_calls,omitempty"`
	// BackgroundTasks are the commands that still run as Claude ends its turn.
	BackgroundTasks []map[string]any `json:"background_tasks,omitempty"`
	// AgentID is the subagent that the step is of; empty for Claude itself.
	AgentID string `json:"agent_id,omitempty"`
}

// hookAnswer is the answer to the hook. Without an output, the CLI decides by its
// own allowlist, which holds nothing but what calling back needs.
type hookAnswer struct {
	Output *hookOutput `json:"hookSpecificOutput,omitempty"`
}

type hookOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	// Context is shown to Claude beside what the tool gives back.
	Context      string          `json:"additionalContext,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

func decide(decision, reason string) hookAnswer {
	return hookAnswer{&hookOutput{Event: claude.PreToolUse, Decision: decision, Reason: reason}}
}

// What Claude is told of a call that did not run.
const (
	laterDecision  = "Another question waits for the user's decision first, so this was not run. Make this call again after that one."
	wantsOtherwise = "They want something else: change what you asked for accordingly and make the call again; they are asked anew. What they want, in their words:"
	nobodyDecided  = "Nobody has decided on this yet, so it was not run. Stop now: you will be called again with the user's decision."
)

// hook answers one of the CLI's hooks.
func (h *Handler) hook(in *call) (any, error) {
	ended := h.stillRuns(in)
	hasEnded := job.HasKind(ended, job.NotFound)
	if ended != nil && !hasEnded {
		return nil, ended
	}
	var body toolCallBody
	if err := httpjson.KnownInto(in.payload, &body); err != nil {
		return nil, err
	}
	switch body.Event {
	case "", claude.PreToolUse:
		if hasEnded {
			return nil, ended
		}
		return h.toolCalls(in, body)
	case claude.PostToolBatch, claude.Stop:
	default:
		return nil, job.UnknownName("/hook_event_name", body.Event, []string{claude.PreToolUse, claude.PostToolBatch, claude.Stop})
	}
	switch {
	case hasEnded:
		return hookAnswer{}, nil // the job has ended, and so may the turn
	case body.Event == claude.Stop:
		return h.stops(in, body)
	}
	return h.stepEnded(in, body)
}

// toolCalls judges a call of a tool by the kind's rules, and asks a person where they
// say so. The CLI waits for the answer before it runs anything: see "Approval of
// single tool calls" in docs/people.md.
func (h *Handler) toolCalls(in *call, body toolCallBody) (any, error) {
	t, err := h.readToolCall(in, body)
	if err != nil {
		return nil, err
	}
	callsBack := claude.IsCallbackCall(t.tool.Name, t.tool.Input, t.tool.Dir)
	if callsBack && t.tool.Name != "Bash" {
		return hookAnswer{}, nil
	}
	h.locate(t)
	verdict, rule := t.kind.Policy.ToolRules().Verdict(t.tool)
	if t.asksUser() {
		if !t.kind.Policy.AsksQuestions() {
			return deniedByRule("questions: off"), nil
		}
		if verdict != approval.Deny {
			return h.ownQuestion(t)
		}
	}
	if callsBack && verdict != approval.Deny {
		return hookAnswer{}, nil // the CLI's own allowlist holds the callbacks, word for word
	}
	switch verdict {
	case approval.Allow:
		return decide("allow", ""), nil
	case approval.Deny:
		if err := h.jobs.AppendAudit(in.ctx, in.id, job.AuditEntry{Event: "refused", Detail: lifecycle.DeniedByRule(rule), Operation: t.operation}); err != nil {
			return nil, err
		}
		return deniedByRule(rule), nil
	case approval.Ask:
		t.rule, t.operation.Rule = rule, rule
		return h.askPerson(t)
	case approval.NoOpinion:
	}
	return hookAnswer{}, nil
}

func deniedByRule(rule string) hookAnswer {
	return decide("deny", "This job may not do that ("+rule+").")
}

// locate says where the files of a call lie. Where the job works on another node,
// its working directory is all that is known, and links in it cannot be followed.
func (h *Handler) locate(t *toolCall) {
	if h.opts.WorkDir == nil {
		return
	}
	t.tool.Home = h.opts.Home
	t.tool.Masked = h.opts.Masked != nil && h.opts.Masked(t.id)
	if dir := h.opts.WorkDir(t.id); dir != "" {
		t.tool.Root = dir
		// The CLI tells of its directory without the links that lead there.
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if _, inside := inDir(real, t.tool.Dir); inside {
				t.tool.Root = real
			}
		}
	}
	root := cmp.Or(t.tool.Root, t.tool.Dir)
	t.tool.Resolve = resolveIn(root)
	t.tool.PlainRepository = sync.OnceValue(func() bool { return plainRepository(root, t.tool.Dir) })
}

// stillRuns makes sure that neither the job nor the turn has ended: other callbacks store something,
// which the store refuses then, but most verdicts on tool calls do not.
func (h *Handler) stillRuns(in *call) error {
	header, state, ok, err := h.store.Header(in.ctx, in.id)
	switch {
	case err != nil:
		return err
	case !ok:
		return job.Errorf(job.NotFound, "%s", in.unknown)
	case state.Terminal():
		return late(state)
	case !header.Signed(in.signature):
		return lifecycle.WrongSignature()
	}
	return nil
}

func (h *Handler) readToolCall(in *call, body toolCallBody) (*toolCall, error) {
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	if body.ToolName == "" {
		return nil, job.InvalidField("/tool_name", "is required but missing")
	}
	if body.ToolInput == nil {
		return nil, job.InvalidField("/tool_input", "is required but missing")
	}
	t := &toolCall{call: in, kind: k, toolCallID: body.ToolUseID, tool: approval.ToolCall{Name: body.ToolName, Input: body.ToolInput, Dir: body.CWD}}
	t.operation, err = approval.OfTool(t.tool.Name, t.tool.Input)
	return t, err
}
