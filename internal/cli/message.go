package cli

import (
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
)

// margin is as wide as the time at the left of a chat.
const margin = "         "

// message prints one message of a chat: time, sender, content.
func (p printer) message(m job.Message) {
	p.hang(
		p.paint(faint, p.time(m.CreatedAt, time.TimeOnly))+" "+p.paint(bold, p.fit(clean(speaker(m)), len(margin)+2))+"  ",
		margin, "", strings.TrimSpace(m.Content),
	)
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			p.aside(line)
		}
	}
	if m.Hearing != nil {
		p.aside(m.Hearing.Words())
	}
}

func (p printer) aside(text string) { p.hang(margin, margin, faint, clean(text)) }

func speaker(m job.Message) string {
	if m.MessageType == job.CheckpointMessage {
		return m.Author() + " asks"
	}
	return m.Author()
}

// toolLine describes a tool call in one line; "" for other parts.
func toolLine(part job.Part) string {
	switch part.Type {
	case job.ToolCallPart:
		return "→ " + part.ToolName + " " + shortened(plainValue(part.Input))
	case job.ToolResultPart:
		return "← " + part.ToolName + " " + strings.TrimPrefix(string(part.State), "output-") + " " + shortened(plainValue(part.Output))
	case job.TextPart:
	}
	return ""
}

// plainValue formats a JSON value for people: a string without quotes, an object as its members, or
// as its value alone if it has one member.
func plainValue(value json.RawMessage) string {
	var named []string
	alone := ""
	for name, member := range job.Members(value) {
		alone = plainMember(member)
		named = append(named, name+": "+alone)
	}
	switch len(named) {
	case 0:
		return plainMember(value)
	case 1:
		return alone
	}
	return strings.Join(named, ", ")
}

// plainMember formats a member of an object: a string without quotes, anything else as JSON.
func plainMember(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// answeredIn returns the ids of the question messages that other messages in the list answer. An
// answer refers to its question by checkpoint_message_id in its props.
func answeredIn(messages []job.Message) map[int64]bool {
	answered := map[int64]bool{}
	for _, m := range messages {
		if props := decoded[job.ReplyProps](m.Props); props.ResolvesCheckpoint {
			answered[props.CheckpointMessageID] = true
		}
	}
	return answered
}

// fate prints the subject of a question below it, and its outcome or how to answer it.
func (p printer) fate(c job.Checkpoint) {
	p.input(margin, c.Question())
	if c.Status != job.Open {
		p.aside(string(c.Status))
		p.outcome(margin, c)
		return
	}
	if replies := suggested(c.Props); replies != "" {
		p.hang(margin, margin, cyan, clean(replies))
	}
	p.printf("%s%s\n", margin, p.paint(faint, "open; answer with: ringback reply "+Quoted(clean(string(c.ID)))+" <text>"))
}
