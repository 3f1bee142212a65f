package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

// ToolOutput is the output that a front end sends for a call that waits for the user. It is the
// user's decision.
type ToolOutput struct {
	// CallID identifies the call. CheckpointID identifies the question instead, as in an approval
	// of the AI SDK.
	CallID       string
	CheckpointID job.CheckpointID
	// Decision is set for "approved" and "denied"; otherwise Text contains the user's words.
	Decision job.Decision
	Text     string
}

// incomingPart is a part of a user's message, in Ringback's format or in those of the AI SDK,
// versions 4 to 6.
type incomingPart struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	ToolCallID string          `json:"toolCallId"`
	State      string          `json:"state"`
	Output     json.RawMessage `json:"output"`
	Result     json.RawMessage `json:"result"`
	Approval   *struct {
		ID       string `json:"id"`
		Approved bool   `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
	// Invocation contains the fields of version 4.
	Invocation *incomingPart `json:"toolInvocation"`
}

// roles are those that the messages of a sender may have. A user's message with the role assistant is the AI SDK's:
// the assistant's own message, with the output in it.
var roles = map[job.Sender][]job.Sender{
	job.FromUser: {job.FromUser, job.FromTool, job.FromAssistant}, job.FromAssistant: {job.FromAssistant},
}

// TakeParts parses a message's role and parts: texts become its content, a tool's output its
// ToolOutput. sender is the role allowed here. details describe what is invalid.
func (m *Incoming) TakeParts(sender job.Sender) (details []job.Detail) {
	wrong := func(path, message string) { details = append(details, job.Detail{Path: path, Message: message}) }
	if m.Role != "" && !slices.Contains(roles[sender], m.Role) {
		wrong("/role", fmt.Sprintf("found %q; allowed here: %s", m.Role, spelling.List(roles[sender])))
	}
	var parts []incomingPart
	if len(m.Parts) == 0 {
		m.Parts = json.RawMessage("null")
	}
	if err := job.UnmarshalExact(m.Parts, &parts); err != nil {
		wrong("/parts", "expected an array of parts, objects with type; of a call also toolCallId and output")
		return details
	}
	sentBack := sender == job.FromUser && m.Role == job.FromAssistant
	if sentBack { // the texts are not the user's, and all outputs but the last are of earlier calls
		m.Content = ""
		for _, p := range parts {
			if output, _, _ := p.read(); output != nil {
				m.ToolOutput = output
			}
		}
	} else {
		m.takeOwn(parts, sender, wrong)
	}
	if (sentBack || m.Role == job.FromTool) && m.ToolOutput == nil && details == nil {
		wrong("/parts", "expected a part of type tool-result with toolCallId and output")
	}
	return details
}

// takeOwn takes the parts that the sender has written.
func (m *Incoming) takeOwn(parts []incomingPart, sender job.Sender, wrong func(path, message string)) {
	var texts []string
	for i, p := range parts {
		output, field, fault := p.read()
		switch {
		case fault != "":
			wrong(fmt.Sprintf("/parts/%d/%s", i, field), fault)
		case p.isText():
			texts = append(texts, p.Text)
		case output == nil:
		case sender != job.FromUser:
			wrong(fmt.Sprintf("/parts/%d", i), "only a user's message holds the output of a call that waits")
		case m.ToolOutput != nil:
			wrong(fmt.Sprintf("/parts/%d", i), "one message may hold the output of one call")
		default:
			m.ToolOutput = output
		}
	}
	m.Content = cmp.Or(m.Content, strings.Join(texts, "\n"))
}

// isText reports whether a part is a text. The type may be left out.
func (p incomingPart) isText() bool {
	return p.Type == string(job.TextPart) || p.Type == "" && p.ToolCallID == "" && p.Invocation == nil
}

// read returns a tool's output, or what is wrong with a field. It returns nil for a text or a call
// without output.
func (p incomingPart) read() (output *ToolOutput, field, fault string) {
	switch {
	case p.Invocation != nil && (p.Type == "" || p.Type == "tool-invocation"):
		inner := *p.Invocation
		inner.Type = "tool-invocation"
		return inner.read()
	case p.isText():
		return nil, "", ""
	case p.Type == "":
		p.Type = string(job.ToolResultPart)
	case p.Type != "dynamic-tool" && !strings.HasPrefix(p.Type, "tool-"):
		return nil, "type", fmt.Sprintf("found %q; allowed: text, tool-result, tool-output, and the AI SDK's parts of tools", p.Type)
	}
	if a := p.Approval; a != nil && p.State == "approval-responded" {
		decision := map[bool]job.Decision{true: job.Approve, false: job.Deny}[a.Approved]
		return &ToolOutput{CallID: p.ToolCallID, CheckpointID: job.CheckpointID(a.ID), Decision: decision, Text: a.Reason}, "", ""
	}
	return p.readOutput()
}

// readOutput is read for a part that is no text and no approval.
func (p incomingPart) readOutput() (output *ToolOutput, field, fault string) {
	given := p.Output
	if len(given) == 0 {
		given = p.Result
	}
	if p.Type == string(job.ToolCallPart) || len(given) == 0 && p.State != "" && !strings.HasPrefix(p.State, "output") {
		return nil, "", "" // the call itself
	}
	if p.ToolCallID == "" {
		return nil, "toolCallId", "is required but missing; expected the id of the call, as the chat shows it"
	}
	var text string
	if job.UnmarshalExact(given, &text) != nil || strings.TrimSpace(text) == "" {
		return nil, "output", `expected text: "approved", "denied", or the user's words`
	}
	if decision := map[string]job.Decision{"approved": job.Approve, "denied": job.Deny}[text]; decision != "" {
		return &ToolOutput{CallID: p.ToolCallID, Decision: decision}, "", ""
	}
	return &ToolOutput{CallID: p.ToolCallID, Text: text}, "", ""
}

// toolOutput processes the output of a call as the reply to the question that the call waits for.
func (s *Service) toolOutput(ctx context.Context, m Incoming, shown shown) (int64, error) {
	open, err := s.store.Checkpoints.OpenIn(ctx, m.UserID, m.SessionID)
	if err != nil {
		return 0, err
	}
	out := m.ToolOutput
	open = slices.DeleteFunc(open, func(c job.Checkpoint) bool { return !shown.includes(c) })
	i := slices.IndexFunc(open, out.isFor)
	if i < 0 {
		return 0, job.Errorf(
			job.Conflict, "No question waits for the call %q in this session", cmp.Or(out.CallID, string(out.CheckpointID)),
		).
			WithHint("It was answered, or its job has ended: GET /api/sessions/%s/messages shows how.", m.SessionID)
	}
	if out.CheckpointID == "" {
		if err := s.checkOnlyCall(ctx, open[i], slices.ContainsFunc(open[i+1:], out.isFor)); err != nil {
			return 0, err
		}
	}
	given := Reply{
		Seen: Seen{Shown: job.ShownInText(open[i])}, Decision: out.Decision, Text: cmp.Or(out.Text, m.Content), By: m.By,
		LogID: m.LogID, Destination: m.Destination,
	}
	if given.Decision == "" { // like any other words in the chat
		given.Shown = shownInChat(open[i])
	}
	return s.reply(ctx, open[i], given)
}

func (o *ToolOutput) isFor(c job.Checkpoint) bool {
	names := o.CheckpointID != "" || o.CallID != ""
	return names && (o.CheckpointID == "" || o.CheckpointID == c.ID) && (o.CallID == "" || o.CallID == c.ToolCallID)
}

// checkOnlyCall returns a Conflict if the chat has asked about another call, too, under the id of the
// call that a question is about: an output that names the id alone may be the answer to that one, on a
// page that is out of date. Nothing keeps a job from using an id twice.
func (s *Service) checkOnlyCall(ctx context.Context, c job.Checkpoint, another bool) error {
	for after := int64(0); !another; {
		messages, _, err := s.store.Chats.Messages(ctx, c.UserID, c.SessionID, after, 200)
		if err != nil || len(messages) == 0 {
			return err
		}
		for _, m := range messages {
			after = m.ID
			earlier, _ := parse(job.Checkpoint{RequestID: m.RequestID, Props: m.Props})
			earlier.checkpoint.Type = earlier.props.CheckpointType
			another = another || m.CheckpointID != "" && earlier.props.ToolCallID == c.ToolCallID &&
				callOf(earlier.checkpoint) != callOf(c)
		}
	}
	return job.Errorf(job.Conflict, "This session has asked about more than one call %q", c.ToolCallID).
		WithHint("Name the question, too: its checkpoint is the approval's id (%s).", c.ID)
}

// callOf identifies the call that a question is about, with its input and its directory.
func callOf(c job.Checkpoint) [4]string {
	q, planned := c.Question(), ""
	if p := job.PreviewIn(c.Props); p != nil {
		planned = p.Digest
	}
	return [4]string{string(c.RequestID), q.Runs, q.Exact, planned}
}
