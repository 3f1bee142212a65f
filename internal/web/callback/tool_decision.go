package callback

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
	"ringback/internal/turn/claude"
)

// askPerson answers with a person's decision on a call: an earlier one, a standing
// approval, or a new one.
func (h *Handler) askPerson(t *toolCall) (hookAnswer, error) {
	standing, err := h.standing(t)
	if err != nil {
		return hookAnswer{}, err
	}
	answer, missing, err := h.useApproval(t, standing)
	if err != nil || missing == "" {
		return answer, err
	}
	if missing == lifecycle.AllowedElsewhere {
		t.again = "\nYou are asked again: " + missing + "."
	}
	log, err := h.auditLog(t)
	if err != nil {
		return hookAnswer{}, err
	}
	id, c, undecided, err := h.askAbout(t, t.asking(approval.Covers(t.rule, log)))
	if err != nil || c.Status != job.Answered {
		return undecided, err
	}
	answer, missing, err = h.useApproval(t, "")
	if missing != "" {
		_ = h.jobs.AckReply(t.ctx, t.id, id) // so that the same call, made again, is asked about
		answer = decide("deny", "This was not run: "+missing+".")
	}
	return answer, err
}

// askAbout asks a person about a call. If the returned checkpoint is not answered, the call is answered with
// undecided: if there is no reply in time, the CLI stops at this call, and asks again when it is resumed.
func (h *Handler) askAbout(
	t *toolCall, a checkpoint.Request,
) (id job.CheckpointID, c job.Checkpoint, undecided hookAnswer, err error) {
	a.ToolCallID, a.Parts = t.toolCallID, t.shown()
	id, c, err = h.ask(t.call, a)
	if errors.Is(err, errBusy) {
		return id, c, decide("deny", laterDecision), nil
	}
	return id, c, decide("defer", nobodyDecided), err
}

func (h *Handler) auditLog(t *toolCall) ([]job.AuditEntry, error) {
	lines, _, err := h.store.Jobs.Audit(t.ctx, t.id)
	if err != nil {
		return nil, err
	}
	log := make([]job.AuditEntry, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &log[i]); err != nil {
			return nil, err
		}
	}
	return log, nil
}

// asking returns the question to the person; covers describes the calls that an approval
// for more than one call allows.
func (t *toolCall) asking(covers *job.Covers) checkpoint.Request {
	if t.tool.Name == claude.ExitPlanMode {
		return t.askingForPlan()
	}
	props := job.MustJSON(job.Props{
		ToolCallID: t.toolCallID, ToolName: t.tool.Name, ToolInput: t.operation.Input, ToolDir: t.operation.Dir,
		Kind: t.kind.Name, Rule: t.rule, Covers: covers,
	})
	question := t.question(covers)
	return checkpoint.Request{
		Type: job.ToolApproval, Message: job.Sentence(question.Segments), Asked: question, Props: props,
		ApprovalKey: approval.Key(t.operation), AuditFields: t.operation,
	}
}

// shown returns the call as the chat shows it.
func (t *toolCall) shown() []job.Part {
	return []job.Part{{
		Type: job.ToolCallPart, ToolCallID: t.toolCallID, ToolName: t.tool.Name, State: job.InputAvailable,
		Input: t.operation.Input,
	}}
}

// useApproval uses up the decision on exactly this call, or uses a standing approval, and answers with it.
// If neither permits or denies the call, missing is the reason.
func (h *Handler) useApproval(t *toolCall, standing string) (answer hookAnswer, missing string, err error) {
	use := lifecycle.ToolUse{
		RequestID: t.id, ToolCallID: t.toolCallID, ApprovalKey: approval.Key(t.operation), AuditFields: t.operation,
		Standing: standing,
	}
	decided, err := h.jobs.Decided(t.ctx, t.id, use.ApprovalKey)
	if err != nil {
		return hookAnswer{}, "", err
	}
	if decided != nil {
		use.Decided, use.DeniedBy = decided.ID, t.kind.Policy.ToolRules().Denies(t.tool, decided.Reply.Values)
	}
	outcome, by, err := h.jobs.UseApproval(t.ctx, use)
	switch {
	case err != nil:
		return hookAnswer{}, "", err
	case outcome.Kind == lifecycle.Stale: // a person has decided again
		return h.useApproval(t, standing)
	case outcome.Kind == lifecycle.Unapproved:
		return hookAnswer{}, outcome.Reason, nil
	case outcome.Kind == lifecycle.Denied && outcome.Reason != "":
		return deniedByRule(outcome.Reason), "", nil
	case outcome.Kind == lifecycle.Denied:
		return denied(*decided.Reply), "", nil
	case outcome.Kind != lifecycle.Accepted:
		return hookAnswer{}, "", t.refused(outcome)
	case by == "":
		return decide("allow", ""), "", nil
	}
	return t.allowed(*decided.Reply), "", nil
}

// denied returns the answer with the reason why a person refused a call, or what the person
// wants instead.
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
func (t *toolCall) allowed(reply job.Reply) hookAnswer {
	if t.asksUser() { // the CLI accepts no approval of its own questions without an input
		return allow(reply, t.tool.Input)
	}
	return allow(reply, reply.Values)
}

// allow lets a call run with an input; nil leaves it unchanged.
func allow(reply job.Reply, input map[string]any) hookAnswer {
	answer := decide("allow", "")
	answer.Output.Context = whatWasSaid(reply.Exchange)
	if len(input) > 0 {
		answer.Output.UpdatedInput = job.MustJSON(input)
	}
	return answer
}

// whatWasSaid returns the messages that led to a decision, for Claude; empty if there
// was only one.
func whatWasSaid(exchange []job.Utterance) string {
	if len(exchange) == 0 {
		return ""
	}
	return "What the user and you said about this call, up to the decision, as data: " + string(job.MustJSON(exchange))
}

// standing returns the ID of the user's standing approval that covers a call; empty if
// none does.
func (h *Handler) standing(t *toolCall) (string, error) {
	list, err := h.store.Checkpoints.Approvals(t.ctx, t.header.UserID)
	if err != nil {
		return "", err
	}
	given, _ := approval.Standing(list, approval.Request{
		UserID: t.header.UserID, RequestID: t.id, Kind: t.kind.Name, Rule: t.rule, Asking: t.asks, Tool: t.tool.Name,
	})
	return given.ID, nil
}

// mostShown limits the bytes of an input that are shown with a question, and mostOfText
// those of one text in it, so that no field hides another.
const (
	mostShown  = 8000
	mostOfText = 2000
)

// question returns the question about Claude's call, and about what an approval for more than
// one call allows.
func (t *toolCall) question(covers *job.Covers) *job.Asked {
	input, omitted := shortened(t.tool.Input)
	asked := &job.Asked{Bytes: len(t.operation.Input), Omitted: omitted}
	say := func(from job.SegmentSource, text string) {
		asked.Segments = append(asked.Segments, job.Segment{From: from, Text: text})
	}
	say(job.FromRingback, "Claude wants to use ")
	say(job.FromValue, job.InDir(t.tool.Name, t.operation.Dir))
	say(job.FromRingback, ":\n")
	shown := literal.Indented(input) // so that Claude chooses neither the order nor the notation
	head := excerpt.First(shown, mostShown)
	say(job.FromValue, head)
	if left := len(shown) - len(head); left > 0 {
		asked.Omitted += left
		say(job.FromRingback, fmt.Sprintf("\n(the beginning of %d bytes: look at the whole input before you allow it)", len(shown)))
	}
	say(job.FromRingback, t.again+"\nAllow it? A yes is for this call. Approval for this job, or for always, also allows: ")
	asked.Segments = append(asked.Segments, covers.Segments...)
	say(job.FromRingback, ".")
	return asked
}

// shortened returns an input in which long texts are visibly cut in the middle. omitted is
// the number of bytes left out.
func shortened(v any) (short any, omitted int) {
	switch v := v.(type) {
	case string:
		if len(v) <= mostOfText {
			return v, 0
		}
		first, last := excerpt.First(v, mostOfText-mostOfText/4), excerpt.Last(v, mostOfText/4)
		omitted = len(v) - len(first) - len(last)
		return fmt.Sprintf("%s … (%d bytes are left out here) … %s", first, omitted, last), omitted
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, value := range v {
			part, left := shortened(value)
			fields[name], omitted = part, omitted+left
		}
		return fields, omitted
	case []any:
		items := make([]any, len(v))
		for i, value := range v {
			part, left := shortened(value)
			items[i], omitted = part, omitted+left
		}
		return items, omitted
	}
	return v, 0
}
