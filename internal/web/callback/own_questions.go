package callback

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
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
