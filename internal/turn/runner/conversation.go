package runner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
	"ringback/internal/turn/claude"
)

// maxPart limits a tool's input or output in a message, in bytes; the transcript has
// the rest.
const maxPart = 8 << 10

// conversation converts the CLI's output to messages of the job's session.
type conversation struct {
	// tools are the names of the running tools, by call ID. Tools that only call back are
	// left out.
	tools map[string]string
	// secrets are blanked out.
	secrets process.Secrets
	// model reports what the model has written; nil if that cannot be known. It is not asked about the
	// first bytes of the output, printed before this start of the server adopted the turn.
	model   responses
	adopted int64
	// turn determines how many bytes of its messages the chat keeps, and size is their number so far. last is the
	// latest text of Claude's that it has no room for.
	turn int
	size int64
	last *job.MessageBody
}

// responses reports whether the model has written a text, or called a tool with an id.
type responses interface {
	Said(text string) bool
	Called(id, tool string) bool
}

// expect records the tool calls at which an earlier turn stopped: their results arrive
// in this one.
func (c *conversation) expect(answers []job.Checkpoint) {
	c.tools = map[string]string{}
	for _, a := range answers {
		if id, tool := a.StoppedCall(); id != "" {
			c.tools[id] = tool
		}
	}
}

// messages returns the messages that people get to see.
func (c *conversation) messages(printed []claude.StreamMessage) []lifecycle.AssistantMessage {
	var list []lifecycle.AssistantMessage
	for _, s := range printed {
		for _, m := range oneByOne(s.Message) {
			shown := c.message
			if c.model != nil && s.End > c.adopted && !c.isModels(m) {
				shown = c.printedNotice
			}
			if body, ok := shown(m); ok {
				list = c.add(list, lifecycle.AssistantMessage{End: s.End, Body: body})
			}
		}
	}
	return list
}

// add adds a message to a list if the chat has room for it. Otherwise it remembers a text, and adds only the ends
// of calls, without their output: a call that the chat shows ends there, and a person learns what came of a
// call that they allowed. The chat reports once that it leaves something out.
func (c *conversation) add(list []lifecycle.AssistantMessage, m lifecycle.AssistantMessage) []lifecycle.AssistantMessage {
	before, most := c.size, store.KeptOutput(c.turn)
	c.size += sizeOfMessage(m.Body)
	switch {
	case c.size <= most:
		return append(list, m)
	case before <= most:
		notice := job.Text(job.FromAssistant, fmt.Sprintf(
			"Claude's messages of this turn are longer than the %d KiB that the chat keeps. "+
				"What follows is left out, except for the last text.", most>>10,
		))
		notice.MessageType = job.NoticeMessage
		list = append(list, lifecycle.AssistantMessage{End: m.End, Body: notice})
	}
	if m.Body.Content != "" && m.Body.MessageType != job.NoticeMessage {
		last := m.Body
		c.last = &last
	}
	m.Body.Parts = slices.DeleteFunc(m.Body.Parts, func(p job.Part) bool { return p.Type != job.ToolResultPart })
	for i := range m.Body.Parts {
		m.Body.Parts[i].Output = json.RawMessage(`"left out"`)
	}
	if m.Body.Content = ""; len(m.Body.Parts) > 0 {
		list = append(list, m)
	}
	return list
}

// rest returns the last text of a turn if the chat had no room for it.
func (c *conversation) rest(end int64) []lifecycle.AssistantMessage {
	if c.last == nil {
		return nil
	}
	body := *c.last
	body.Content = excerpt.Head(body.Content, maxPart)
	body.MessageType, body.Parts = job.TextMessage, []job.Part{{Type: job.TextPart, Text: body.Content}}
	return []lifecycle.AssistantMessage{{End: end, Body: body}}
}

// sizeOfMessage returns about how many bytes a message takes in the store.
func sizeOfMessage(m job.MessageBody) int64 {
	const frame = 400
	size := frame + len(m.Content)
	for _, p := range m.Parts {
		size += len(p.Text) + len(p.Input) + len(p.Output)
	}
	return int64(size)
}

// oneByOne splits a message with the results of several tools: each result ends another
// call and is shown or left out independently.
func oneByOne(m transcript.Message) []transcript.Message {
	if m.Role == "assistant" || len(m.Blocks) < 2 {
		return []transcript.Message{m}
	}
	var all []transcript.Message
	for _, b := range m.Blocks {
		one := m
		one.Blocks = []transcript.Block{b}
		all = append(all, one)
	}
	return all
}

// isModels reports whether the model has written what the CLI has printed as a message of Claude's: any
// program of a turn can write to the CLI's output. Results of tools are not the model's.
func (c *conversation) isModels(m transcript.Message) bool {
	return m.Role != "assistant" || !slices.ContainsFunc(m.Blocks, func(b transcript.Block) bool {
		return b.Type == "text" && !c.model.Said(b.Text) || b.Type == "tool_use" && !c.model.Called(b.ToolUseID, b.Name)
	})
}

// printedNotice returns Ringback's notice about words that only seem to be Claude's. Calls that the
// model has not made are left out; ok is false if nothing else was printed.
func (c *conversation) printedNotice(m transcript.Message) (body job.MessageBody, ok bool) {
	texts := make([]string, len(m.Blocks))
	for i, b := range m.Blocks {
		texts[i] = b.Text
	}
	text := excerpt.Head(literal.Text(strings.TrimSpace(string(mask([]byte(strings.Join(texts, "\n")), c.secrets)))), maxPart)
	body = job.Text(job.FromAssistant, "A program of this turn printed this as if Claude had written it:\n\n    "+strings.ReplaceAll(text, "\n", "\n    "))
	body.MessageType = job.NoticeMessage
	return body, text != ""
}

func (c *conversation) message(m transcript.Message) (job.MessageBody, bool) {
	body := job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.TextMessage}
	var texts []string
	for _, b := range m.Blocks {
		part, ok := c.part(m.Role, b)
		if !ok {
			continue
		}
		if part.Type == job.TextPart {
			texts = append(texts, part.Text)
		} else {
			body.MessageType = job.ToolMessage
		}
		if part.Type == job.ToolResultPart {
			body.Role = job.FromTool
		}
		body.Parts = append(body.Parts, part)
	}
	body.Content = strings.Join(texts, "\n\n")
	return body, len(body.Parts) > 0
}

func (c *conversation) part(role string, b transcript.Block) (job.Part, bool) {
	switch {
	case b.Type == "text" && role == "assistant":
		text := string(mask([]byte(b.Text), c.secrets))
		return job.Part{Type: job.TextPart, Text: text}, strings.TrimSpace(text) != ""
	case b.Type == "tool_use":
		return c.call(b)
	case b.Type == "tool_result":
		return c.result(b)
	}
	return job.Part{}, false
}

func (c *conversation) call(b transcript.Block) (job.Part, bool) {
	var input map[string]any
	_ = job.UnmarshalExact(b.Input, &input) // a callback is always an object
	if claude.IsCallbackCall(b.Name, input, "") {
		return job.Part{}, false
	}
	c.tools[b.ToolUseID] = b.Name
	return job.Part{
		Type: job.ToolCallPart, ToolCallID: b.ToolUseID, ToolName: b.Name, State: job.InputAvailable, Input: c.shown(b.Input),
	}, true
}

func (c *conversation) result(b transcript.Block) (job.Part, bool) {
	name := c.tools[b.ToolUseID]
	if name == "" {
		return job.Part{}, false
	}
	delete(c.tools, b.ToolUseID)
	state := job.OutputAvailable
	switch {
	case b.IsError && strings.Contains(string(b.Output), job.DeniedByUser):
		state, b.Output = job.OutputDenied, json.RawMessage(`"denied"`)
	case b.IsError:
		state = job.OutputError
	}
	return job.Part{Type: job.ToolResultPart, ToolCallID: b.ToolUseID, ToolName: name, State: state, Output: c.shown(b.Output)}, true
}

// shown returns a tool's input or output in the form that a message holds.
func (c *conversation) shown(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	masked := mask(text, c.secrets)
	if len(masked) <= maxPart {
		return masked
	}
	quoted, err := json.Marshal(excerpt.Head(string(masked), maxPart))
	if err != nil {
		return json.RawMessage("null")
	}
	return quoted
}
