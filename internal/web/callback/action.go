package callback

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
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
		h.log.Warn("action refused", "requestId", a.id, "action", a.action.Name, "reason", outcome.Reason)
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
	h.log.Warn("preview failed", "requestId", a.id, "action", a.action.Name, "error", err)
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
