package callback

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringback/internal/approval"
	"ringback/internal/checkpoint"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// askPerson answers with a person's decision on a call: one that was taken before,
// one that stands, or the one they take now.
func (h *Handler) askPerson(t *toolCall, rule string) (any, error) {
	if answer, err := h.recordedDecision(t); answer != nil || err != nil {
		return answer, err
	}
	if covered, err := h.coveredByStanding(t, rule); covered || err != nil {
		return decide("allow", ""), err
	}
	asking, err := t.asking(rule)
	if err != nil {
		return nil, err
	}
	outcome, asked, details, err := h.checkpoints.Ask(t.ctx, asking)
	switch {
	case err != nil:
		return nil, err
	case details != nil:
		return nil, job.Errorf(job.Internal, "The question is not valid: %s %s", details[0].Path, details[0].Message)
	case outcome == lifecycle.Busy, outcome == lifecycle.Outcome(job.AwaitingApproval), outcome == lifecycle.Outcome(job.AwaitingInput):
		return decide("deny", laterDecision), nil
	case outcome != lifecycle.Asked && outcome != lifecycle.Repeated:
		return nil, t.refused(outcome)
	}
	return h.awaitDecision(t, asked.ID)
}

// asking is the question to the person.
func (t *toolCall) asking(rule string) (checkpoint.Request, error) {
	props, err := json.Marshal(job.Props{
		ToolCallID: t.toolCallID, ToolName: t.tool.Name, ToolInput: t.operation.Input, Kind: t.kind.Name, Rule: rule,
	})
	return checkpoint.Request{
		RequestID: t.id, UserID: t.header.UserID, SessionID: t.header.SessionID, Type: job.ToolApproval, Message: t.question(rule),
		Props: props, ToolCallID: t.toolCallID, ApprovalKey: approval.Key(t.operation), AuditFields: t.operation, Hold: true,
		Parts: []job.Part{{Type: job.ToolCallPart, ToolCallID: t.toolCallID, ToolName: t.tool.Name, State: job.InputAvailable, Input: t.operation.Input}},
	}, err
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
		_ = h.jobs.AckReply(t.ctx, t.id, id) // if this is not booked, the same is answered once more
		if answer, err := h.recordedDecision(t); answer != nil || err != nil {
			return answer, err
		}
		return decide("deny", "The user's decision was used up already."), nil
	case job.CheckpointExpired:
		return nil, late(job.Expired)
	case job.CheckpointCancelled:
		return nil, late(job.Cancelled)
	case job.Open, job.Interpreting, job.Superseded:
	}
	return decide("defer", nobodyDecided), nil
}

// recordedDecision uses up the recorded decision on exactly this call; nil when there
// is none.
func (h *Handler) recordedDecision(t *toolCall) (any, error) {
	decision, id, err := h.jobs.UseApproval(t.ctx, t.id, approval.Key(t.operation), t.operation, t.denies)
	if err != nil || decision == "" {
		return nil, err
	}
	c, err := h.store.Checkpoint(t.ctx, id)
	if err != nil {
		return nil, err
	}
	if decision == job.Deny && c.Reply.Decision == job.Approve {
		return deniedByRule(t.denies(c.Reply.Values)), nil
	}
	if decision == job.Deny {
		return denied(*c.Reply), nil
	}
	return allowed(*c.Reply)
}

// denies returns the rule that denies the call with another input, as a person changed
// it; empty where none does. What they have looked at and no rule denies is theirs to
// allow.
func (t *toolCall) denies(input map[string]any) string {
	changed := t.tool
	changed.Input = input
	if verdict, rule := t.kind.Policy.ToolRules().Verdict(changed); verdict == approval.Deny {
		return rule
	}
	return ""
}

// denied tells Claude why a person does not want a call, or what they want instead.
func denied(reply job.Reply) hookAnswer {
	reason := job.DeniedByUser
	if reply.Decision == job.Steer {
		reason += " " + wantsOtherwise
	}
	if reply.Reason != "" {
		reason += " " + reply.Reason
	}
	return decide("deny", strings.TrimSpace(reason+"\n"+whatWasSaid(reply.Exchange)))
}

// allowed lets a call run, with the input as the person has changed it.
func allowed(reply job.Reply) (answer hookAnswer, err error) {
	answer = decide("allow", "")
	answer.Output.Context = whatWasSaid(reply.Exchange)
	if len(reply.Values) > 0 {
		answer.Output.UpdatedInput, err = json.Marshal(reply.Values)
	}
	return answer, err
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

// coveredByStanding reports whether the user has allowed what a rule says.
func (h *Handler) coveredByStanding(t *toolCall, rule string) (bool, error) {
	list, err := h.store.Approvals(t.ctx, t.header.UserID)
	if err != nil {
		return false, err
	}
	given, covered := approval.Standing(list, approval.Request{UserID: t.header.UserID, RequestID: t.id, Kind: t.kind.Name, Rule: rule})
	if !covered {
		return false, nil
	}
	return true, h.jobs.AppendAudit(t.ctx, t.id, "allowed", "by the standing approval "+given.ID, t.operation)
}

// question words what Claude wants to do, and what a yes for more than once permits.
func (t *toolCall) question(rule string) string {
	const scope = "\nAllow it? A yes for this job, or for always, permits: "
	for _, key := range []string{"command", "file_path", "url", "path", "notebook_path"} {
		if text, ok := t.tool.Input[key].(string); ok && text != "" {
			return fmt.Sprintf("Claude wants to use %s: %s", t.tool.Name, excerpt.Head(text, 1000)) + scope + rule
		}
	}
	return fmt.Sprintf("Claude wants to use %s.", t.tool.Name) + scope + rule
}
