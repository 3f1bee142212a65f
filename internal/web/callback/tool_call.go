package callback

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/claude"
)

// toolCall is one call of one of the CLI's tools, as its PreToolUse hook reports it.
type toolCall struct {
	*call
	kind       *kind.Kind
	toolCallID string
	tool       approval.ToolCall
	operation  job.Operation
	// rule is what a standing approval permits, and asks the kind's rule that requires one.
	rule, asks string
	// again is the reason why a person is asked although they have allowed the same call.
	again string
}

// toolCallBody is the JSON of the CLI's hooks, as far as it is read. The envelope may
// come in headers, because the CLI writes the body.
type toolCallBody struct {
	// Event is the hook: PreToolUse asks whether a tool may be called, PostToolBatch reports that
	// the tools of a step have ended, Stop that Claude ends its turn. The default is PreToolUse.
	Event string `json:"hook_event_name,omitempty" jsonschema:"enum=PreToolUse,enum=PostToolBatch,enum=Stop"`
	// RequestID is the job's id, unless it is in the header X-Ringback-Request-Id.
	RequestID job.ID `json:"requestId,omitempty"`
	// HMAC is the signature of the turn, unless it is in the header X-Ringback-Signature.
	HMAC      job.Signature  `json:"hmac,omitempty"`
	ToolName  string         `json:"tool_name,omitempty"`  // The name of the tool.
	ToolInput map[string]any `json:"tool_input,omitempty"` // The input of the tool.
	// ToolUseID is the CLI's ID of this call.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// CWD is the directory in which the tool would run.
	CWD string `json:"cwd,omitempty"`
	// ToolCalls are the calls of the step, with their results.
	ToolCalls []map[string]any `json:"tool_calls,omitempty"`
	// BackgroundTasks are the commands that still run when Claude ends its turn.
	BackgroundTasks []map[string]any `json:"background_tasks,omitempty"`
	// AgentID is the subagent that the step belongs to; empty for Claude itself.
	AgentID string `json:"agent_id,omitempty"`
}

// hookAnswer is the answer to the hook. Without an output, the CLI decides by its own
// allowlist, which contains only what calling back needs.
type hookAnswer struct {
	Output *hookOutput `json:"hookSpecificOutput,omitempty"`
}

type hookOutput struct {
	Event string `json:"hookEventName"` // The hook that is answered.
	// What the CLI does with the tool call: allow, deny, or defer, which ends the turn.
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"` // The reason for the decision, as shown to Claude.
	// Context is shown to Claude together with the tool's result.
	Context string `json:"additionalContext,omitempty"`
	// UpdatedInput is the input to call the tool with, if the person edited it.
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

func decide(decision, reason string) hookAnswer {
	return hookAnswer{&hookOutput{Event: claude.PreToolUse, Decision: decision, Reason: reason}}
}

// The messages to Claude about a call that did not run.
const (
	laterDecision  = "Another question waits for the user's decision first, so this was not run. Make this call again after that one."
	wantsOtherwise = "They want something else: change what you asked for accordingly and make the call again; they are asked again. What they want, in their words:"
	nobodyDecided  = "No one has decided on this yet, so it was not run. Stop now: you will be called again with the user's decision."
)

// hook answers one of the CLI's hooks.
func (h *Handler) hook(in *call) (json.RawMessage, error) {
	var body toolCallBody
	if err := strictjson.KnownInto(in.payload, &body); err != nil {
		return nil, err
	}
	answer, err := h.answerHook(in, body)
	return job.MustJSON(answer), err
}

func (h *Handler) answerHook(in *call, body toolCallBody) (hookAnswer, error) {
	switch body.Event {
	case "", claude.PreToolUse:
		if in.state.Terminal() { // most verdicts store nothing, so the store would not refuse them
			return hookAnswer{}, in.late(in.state)
		}
		return h.toolCalls(in, body)
	case claude.PostToolBatch, claude.Stop:
	default:
		known := []string{claude.PreToolUse, claude.PostToolBatch, claude.Stop}
		return hookAnswer{}, job.UnknownName("/hook_event_name", body.Event, known)
	}
	switch {
	case in.state.Terminal():
		return hookAnswer{}, nil // the job has ended, so the turn may end, too
	case body.Event == claude.Stop:
		return h.stops(in, body)
	}
	return h.stepEnded(in, body)
}

// toolCalls judges a tool call by the kind's rules, and asks a person if they require
// it. The CLI waits for the answer before it runs anything: see "Approval of single
// tool calls" in docs/permissions.md.
func (h *Handler) toolCalls(in *call, body toolCallBody) (hookAnswer, error) {
	t, err := h.readToolCall(in, body)
	if err != nil {
		return hookAnswer{}, err
	}
	h.locate(t)
	t.tool.Place = t.place()
	callsBack := claude.IsCallbackCall(t.tool.Name, t.tool.Input, t.tool.Dir) && !t.leadsElsewhere()
	if callsBack && t.tool.Name != "Bash" {
		return hookAnswer{}, nil
	}
	judged := t.kind.Policy.ToolRules().Judge(t.tool)
	switch {
	case t.asksUser() && !t.kind.Policy.AsksQuestions():
		return deniedByRule("questions: off"), nil
	case t.asksUser() || judged.Verdict == approval.Deny:
		return h.restrict(t, judged)
	case callsBack || judged.Verdict == approval.NoOpinion:
		return hookAnswer{}, nil // the CLI's own allowlist contains the exact callbacks
	case judged.Verdict == approval.Allow:
		return decide("allow", ""), nil
	}
	return h.restrict(t, judged)
}

// restrict denies a call, or asks a person about it. Only for that is the call described with its digest, which
// costs as much as all the rest if the call has a large input.
func (h *Handler) restrict(t *toolCall, judged approval.Judgement) (answer hookAnswer, err error) {
	if t.operation, err = approval.OfTool(t.tool.Name, t.tool.Input, t.tool.Place); err != nil {
		return hookAnswer{}, err
	}
	rule := judged.Permits
	switch {
	case judged.Verdict == approval.Deny:
		return deniedByRule(rule), h.jobs.AppendAudit(
			t.ctx, t.id, job.AuditEntry{Event: "refused", Detail: lifecycle.DeniedByRule(rule), Operation: t.operation},
		)
	case t.tool.Name == claude.ExitPlanMode:
		return h.plan(t)
	case t.asksUser():
		return h.ownQuestions(t)
	}
	t.rule, t.operation.Rule, t.asks = rule, rule, judged.Rule
	return h.askPerson(t)
}

func deniedByRule(rule string) hookAnswer {
	return decide("deny", "This job may not do that ("+rule+").")
}

// leadsElsewhere reports whether the file of a call may be another one than it names: through links,
// or if it cannot be seen where they lead. Nothing is seen of a job on another machine.
func (t *toolCall) leadsElsewhere() bool {
	path, _ := t.tool.Input["file_path"].(string)
	if path == "" || t.tool.Resolve == nil {
		return false
	}
	if _, isHere := t.tool.Resolve(t.tool.Dir); !isHere {
		return false
	}
	if !filepath.IsAbs(path) {
		path = t.tool.Dir + "/" + path // ".." refers to where a link leads
	}
	target, known := t.tool.Resolve(path)
	return !known || target != filepath.Clean(path)
}

// place returns the directory of a call relative to the job's own. It is empty for the job's own, and
// absolute for one outside of it. If the job's own is not on this machine, its end counts, which is the
// job's ID and work on every node.
func (t *toolCall) place() string {
	dir := filepath.Clean(t.tool.Dir)
	rest, inside := inDir(t.tool.Root, dir)
	if t.tool.Root == "" {
		if _, rest, inside = strings.Cut(dir+"/", "/"+string(t.id)+"/work/"); !inside { // else it is a workspace
			_, rest, inside = strings.Cut(dir+"/", "/"+string(t.id)+"/tree/")
		}
	}
	switch {
	case inside:
		return strings.TrimSuffix(rest, "/")
	case t.tool.Dir == "":
		return ""
	}
	return dir
}

// locate determines the paths of a call's files. If the job works on another node, only its working directory is
// known, and links in it cannot be resolved.
func (h *Handler) locate(t *toolCall) {
	if h.opts.WorkDir == nil {
		return
	}
	t.tool.Home = h.opts.Home
	t.tool.Masked = h.opts.Masked != nil && h.opts.Masked(t.header.Node, t.id)
	if dir := h.opts.WorkDir(t.header.Node, t.id); dir != "" {
		t.tool.Root = dir
		// The CLI reports its directory with links resolved.
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
	return &toolCall{
		call: in, kind: k, toolCallID: body.ToolUseID,
		tool: approval.ToolCall{Name: body.ToolName, Input: body.ToolInput, Dir: body.CWD},
	}, nil
}
