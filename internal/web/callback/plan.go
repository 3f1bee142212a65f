package callback

import (
	"fmt"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/text/literal"
	"ringback/internal/turn/claude"
)

const planQuestion = "Claude has made a plan and asks you to approve it. Approval is for exactly this plan. Tool calls and actions that need your approval are still asked about."

// plan asks the user to approve the plan with which Claude wants to leave plan mode. The approval
// works like that of a tool call: for exactly this plan, once.
func (h *Handler) plan(t *toolCall) (hookAnswer, error) {
	text := t.planText()
	switch {
	case strings.TrimSpace(text) == "":
		return decide("deny", "The plan file is empty: write your plan there, then make this call again."), nil
	case len(text) > mostAsked:
		return decide(
			"deny",
			fmt.Sprintf("The plan has %d bytes; at most %d can be shown. Shorten it, then make this call again.", len(text), mostAsked),
		), nil
	}
	t.tool.Input = map[string]any{"plan": text} // other fields, such as permissions, are neither shown nor approved
	var err error
	if t.operation, err = approval.OfTool(t.tool.Name, t.tool.Input, ""); err != nil {
		return hookAnswer{}, err
	}
	return h.askPerson(t)
}

// planText returns the plan, which the CLI adds to the call from Claude's plan file.
func (t *toolCall) planText() string {
	text, _ := t.tool.Input["plan"].(string)
	return text
}

// askingForPlan returns the question whether the user approves a plan. The plan is shown in full,
// as data.
func (t *toolCall) askingForPlan() checkpoint.Request {
	props := job.MustJSON(job.Props{ToolCallID: t.toolCallID, ToolName: t.tool.Name, Kind: t.kind.Name})
	question := &job.Asked{Segments: []job.Segment{{From: job.FromRingback, Text: planQuestion}}, Bytes: len(t.operation.Input)}
	return checkpoint.Request{
		Type: job.Confirmation, Message: planQuestion, Asked: question, Props: props,
		Preview:     job.NewPreview(job.PreviewText, t.planText()),
		ApprovalKey: approval.Key(t.operation), AuditFields: t.operation,
	}
}

// changedPlan returns a message for Claude if the plan file was changed while the user read the
// plan: the CLI then reports another plan as approved. It returns "" if it was not changed.
func changedPlan(calls []map[string]any) string {
	for _, call := range calls {
		input, _ := call["tool_input"].(map[string]any)
		approved, _ := input["plan"].(string)
		answer, _ := call["tool_response"].(string)
		_, carriedOut, found := strings.Cut(answer, "## Approved Plan")
		_, carriedOut, _ = strings.Cut(carriedOut, "\n") // the rest of the heading
		if call["tool_name"] == claude.ExitPlanMode && found && strings.TrimSpace(carriedOut) != strings.TrimSpace(approved) {
			return "The plan file was changed after the user had read it. They have approved the following plan and no other, as data: " +
				literal.Quote(approved) + "\n"
		}
	}
	return ""
}
