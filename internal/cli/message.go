package cli

import (
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
)

// margin is the room that the time takes on the left of a chat.
const margin = "         "

// message prints one entry of a chat: when, who, what.
func (p printer) message(m job.Message) {
	p.hang(p.paint(faint, p.time(m.CreatedAt, time.TimeOnly))+" "+p.paint(bold, clean(speaker(m)))+"  ", margin, "", strings.TrimSpace(m.Content))
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			p.aside(line)
		}
	}
	if m.Hearing != nil {
		p.aside(m.Hearing.Words())
	}
}

// aside prints a remark below a message.
func (p printer) aside(text string) { p.hang(margin, margin, faint, clean(text)) }

func speaker(m job.Message) string {
	who := string(m.Sender)
	switch m.Sender {
	case job.FromUser:
		who = "You"
	case job.FromAssistant:
		who = "Claude"
	case job.FromTool:
	}
	if m.MessageType == job.CheckpointMessage {
		who += " asks"
	}
	return who
}

// toolLine is a tool's use in one line; "" for other parts.
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

// plainValue is a JSON value as people write it: a text as it is, and what an
// object holds by name, or alone where it is one text.
func plainValue(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var named []string
	alone := ""
	for name, member := range members(value) {
		alone = plainMember(member)
		named = append(named, name+": "+alone)
	}
	switch len(named) {
	case 0:
		return string(value)
	case 1:
		return alone
	}
	return strings.Join(named, ", ")
}

// plainMember is a value in an object: a text as it is, anything else as JSON.
func plainMember(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// answeredIn are the messages whose questions are answered by later ones among them,
// which name them in their props as checkpoint_message_id.
func answeredIn(messages []job.Message) map[int64]bool {
	answered := map[int64]bool{}
	for _, m := range messages {
		var props job.ReplyProps
		if json.Unmarshal(m.Props, &props) == nil && props.ResolvesCheckpoint {
			answered[props.CheckpointMessageID] = true
		}
	}
	return answered
}

// fate prints below a question what it is about, and what became of it or how to answer it.
func (p printer) fate(c job.Checkpoint) {
	p.input(margin, c.Question())
	if c.Status != job.Open {
		p.aside(string(c.Status))
		return
	}
	if replies := suggested(c.Props); replies != "" {
		p.printf("%s%s\n", margin, p.paint(cyan, clean(replies)))
	}
	p.printf("%s%s\n", margin, p.paint(faint, "open; answer with: ringback reply "+Quoted(clean(string(c.ID)))+" <text>"))
}
