package callback

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/text/literal"
	"ringback/internal/turn/claude"
)

// ownQuestion is one question of the CLI's AskUserQuestion.
type ownQuestion struct {
	Question    string      `json:"question"`
	Header      string      `json:"header"`
	MultiSelect bool        `json:"multiSelect"`
	Options     []ownOption `json:"options"`
}

type ownOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview"`
}

// mostAsked limits the questions of one call, in bytes: they are shown in full.
const mostAsked = 16_000

func (t *toolCall) asksUser() bool {
	return t.tool.Name == claude.AskUserQuestion || t.tool.Name == claude.ExitPlanMode
}

// ownQuestions asks the user the questions of the CLI's own tool with a checkpoint, and
// answers the call with the reply.
func (h *Handler) ownQuestions(t *toolCall) (hookAnswer, error) {
	questions, fault := readQuestions(t.tool.Input)
	if fault != "" {
		return decide("deny", fault), nil
	}
	id, c, undecided, err := h.askAbout(t, t.askingQuestions(questions))
	if err != nil || c.Status != job.Answered {
		return undecided, err
	}
	h.acks(t.call, id)
	return t.answers(*c.Reply, questions), nil
}

// readQuestions reads the questions of a call. fault describes to Claude why they cannot be
// asked.
func readQuestions(input map[string]any) (questions []ownQuestion, fault string) {
	text := job.MustJSON(input["questions"])
	if job.UnmarshalExact(text, &questions) != nil || len(questions) == 0 {
		return nil, "questions: expected a list of questions, each with question, header, options and multiSelect."
	}
	if len(text) > mostAsked {
		return nil, fmt.Sprintf("questions: found %d bytes; at most %d can be shown. Ask for less at once.", len(text), mostAsked)
	}
	seen := map[string]bool{}
	for i, q := range questions {
		if strings.TrimSpace(q.Question) == "" || seen[q.Question] {
			return nil, fmt.Sprintf("questions/%d/question: expected a text that no other question has.", i)
		}
		seen[q.Question] = true
	}
	return questions, ""
}

func (t *toolCall) askingQuestions(questions []ownQuestion) checkpoint.Request {
	props := job.Props{ToolCallID: t.toolCallID, ToolName: t.tool.Name}
	message := questions[0].text("")
	for _, q := range questions {
		for _, o := range q.Options {
			props.OptionLabels = append(props.OptionLabels, o.Label)
		}
	}
	if len(questions) == 1 {
		if !questions[0].MultiSelect {
			props.SuggestedReplies = props.OptionLabels
		}
	} else {
		texts := make([]string, len(questions))
		for i, q := range questions {
			texts[i] = q.text(strconv.Itoa(i+1) + ". ")
		}
		message = strings.Join(texts, "\n\n")
		props.Schema = formOf(questions)
	}
	return checkpoint.Request{Type: job.InformationRequest, Message: message, Props: job.MustJSON(props)}
}

func (q ownQuestion) text(number string) string {
	var text strings.Builder
	text.WriteString(number + q.Question)
	if q.MultiSelect {
		text.WriteString(" (several may be chosen)")
	}
	for _, o := range q.Options {
		text.WriteString("\n- " + o.Label)
		if o.Description != "" {
			text.WriteString(": " + o.Description)
		}
		if o.Preview != "" {
			text.WriteString("\n  " + strings.ReplaceAll(o.Preview, "\n", "\n  "))
		}
	}
	return text.String()
}

// answerField returns the name of the value that answers a question, counted from 0.
func answerField(i int) string { return "answer_" + strconv.Itoa(i+1) }

// formOf returns the form with which several questions are answered. An answer is any
// text: the options are suggestions.
func formOf(questions []ownQuestion) json.RawMessage {
	var properties []string
	var names []string
	for i, q := range questions {
		property := job.MustJSON(map[string]any{"type": "string", "minLength": 1, "title": q.Header, "description": q.Question})
		names = append(names, strconv.Quote(answerField(i)))
		properties = append(properties, names[i]+":"+string(property))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` +
		strings.Join(names, ",") + `]}`)
}

// answers gives the CLI the person's answers, by question. It drops answers in Claude's own
// input.
func (t *toolCall) answers(reply job.Reply, questions []ownQuestion) hookAnswer {
	answers := map[string]string{}
	for i, q := range questions {
		answers[q.Question] = answerTo(i, reply)
	}
	return allow(reply, map[string]any{"questions": t.tool.Input["questions"], "answers": answers})
}

// answerTo returns the part of a reply that answers one question: the value with its name, or
// else the whole reply.
func answerTo(i int, reply job.Reply) string {
	if text, ok := reply.Values[answerField(i)].(string); ok {
		return text
	}
	if reply.Text != "" || len(reply.Values) == 0 {
		return reply.Text
	}
	return string(job.MustJSON(reply.Values))
}

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
