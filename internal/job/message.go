package job

import (
	"encoding/json"
	"time"

	"ringback/internal/excerpt"
)

// Sender says who a message is from.
type Sender string

// The senders.
const (
	FromUser      Sender = "user"
	FromAssistant Sender = "assistant"
	FromTool      Sender = "tool" // a role only: what a tool gave back
)

// MessageType says what sort of message it is; the field is free, these are ours.
type MessageType string

// The message types that Ringback itself writes.
const (
	TextMessage       MessageType = "text"
	CheckpointMessage MessageType = "hitl_checkpoint"
	ToolMessage       MessageType = "tool"
	ResultMessage     MessageType = "result"
	NoticeMessage     MessageType = "notice" // what became of a job, in words
	WhichMessage      MessageType = "which"  // asks which of several questions a reply is about; nobody else writes it
)

// Message is one entry of a session: see "The chat" in docs/people.md.
type Message struct {
	// ID counts the messages of a session, from 1.
	ID int64 `json:"id"`
	// CreatedAt is when it was stored.
	CreatedAt time.Time `json:"createdAt"`
	// UpdatedAt is when it last changed: when a call that it shows ended, or the
	// question that it puts was closed.
	UpdatedAt time.Time `json:"updatedAt"`
	MessageBody
}

// Utterance is what one side said, as others are told of it.
type Utterance struct {
	Sender  Sender `json:"sender"`
	Content string `json:"content"`
}

// MessageBody is a message without what the store adds.
type MessageBody struct {
	SessionID string `json:"sessionId"`
	UserID    string `json:"userId"`
	// Sender is user or assistant; Role says the same in the AI SDK's word.
	Sender Sender `json:"sender"`
	Role   Sender `json:"role"`
	// Content is the message as text.
	Content string `json:"content"`
	// Parts are what it consists of, see Part; always present.
	Parts       []Part      `json:"parts"`
	MessageType MessageType `json:"messageType,omitempty"`
	// Destination is whom an outside orchestrator sent it to.
	Destination string `json:"destination,omitempty"`
	// LogID is the sender's own id of the run.
	LogID string `json:"logId,omitempty"`
	// RequestID is the job it belongs to; empty for none of ours.
	RequestID ID `json:"requestId,omitempty"`
	// CheckpointID is set on the message that puts a checkpoint.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"`
	// Props is a JSON object of further facts, see Props and ReplyProps.
	Props json.RawMessage `json:"props,omitempty" jsonschema:"type=object"`
	// Hearing is set if the message is for Claude.
	Hearing *Hearing `json:"hearing,omitempty"`
}

// ReplyProps are the props of a user's message that answers a checkpoint.
type ReplyProps struct {
	InResponseTo        CheckpointType `json:"in_response_to"`
	ResolvesCheckpoint  bool           `json:"resolves_checkpoint"`
	CheckpointRunID     string         `json:"checkpoint_run_id"`
	CheckpointMessageID int64          `json:"checkpoint_message_id"`
}

// PartType says what a part of a message is.
type PartType string

// The part types.
const (
	TextPart       PartType = "text"
	ToolCallPart   PartType = "tool-call"
	ToolResultPart PartType = "tool-result"
)

// PartState says how far a tool call is (the AI SDK's words).
type PartState string

// DeniedByUser begins what Claude is told of a tool call that a person denied.
const DeniedByUser = "The user denied this."

// The states of tool parts.
const (
	InputAvailable  PartState = "input-available"
	OutputAvailable PartState = "output-available"
	OutputDenied    PartState = "output-denied"
	OutputError     PartState = "output-error"
)

// Part is one piece of a message.
type Part struct {
	Type PartType `json:"type"`
	// Text is what a text part says.
	Text string `json:"text,omitempty"`
	// ToolCallID joins a tool's call and its result: a chat has one part of each.
	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	// State is how far a call is: that of its result once it has one.
	State PartState `json:"state,omitempty"`
	// Input is what the tool is called with; Output is what it gave back, and in a
	// call that waits for a person's confirmation, what Claude is answered meanwhile.
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// OfTool reports whether a part is a call of a tool, or the end of one.
func (p Part) OfTool() bool { return p.Type != TextPart }

// Text returns a message body of one text part.
func Text(sender Sender, content string) MessageBody {
	return MessageBody{Sender: sender, Role: sender, Content: content, Parts: []Part{{Type: TextPart, Text: content}}, MessageType: TextMessage}
}

// maxWords is how much of a result without words the chat shows, in bytes.
const maxWords = 2000

// NewResultMessage returns the message that tells a chat of a result: the first of
// its fields that speaks to a person, or the result itself.
func NewResultMessage(result json.RawMessage) MessageBody {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(result, &fields) // a result that is no object has no fields
	for _, name := range [...]string{"message", "summary", "answer", "reasoning", "text"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return resultMessage(text)
		}
	}
	return resultMessage(excerpt.Head(string(result), maxWords))
}

func resultMessage(text string) MessageBody {
	m := Text(FromAssistant, text)
	m.MessageType = ResultMessage
	return m
}

// NewRequestMessage returns the message by which a job's user asked for it.
func NewRequestMessage(kind string, input map[string]any) MessageBody {
	for _, name := range [...]string{"prompt", "message", "request", "task"} {
		if text, ok := input[name].(string); ok && text != "" {
			return Text(FromUser, text)
		}
	}
	text, err := json.MarshalIndent(input, "", "  ")
	if err != nil || len(text) > maxWords {
		return Text(FromUser, kind)
	}
	return Text(FromUser, kind+"\n"+string(text))
}
