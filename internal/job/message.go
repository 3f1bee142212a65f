package job

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// Sender is the author of a message.
type Sender string

// The senders.
const (
	FromUser      Sender = "user"
	FromAssistant Sender = "assistant"
	FromTool      Sender = "tool" // only as a role: the output of a tool
)

// MessageType is the type of a message. Any value is allowed; these are Ringback's.
type MessageType string

// The message types that Ringback itself writes.
const (
	TextMessage       MessageType = "text"
	CheckpointMessage MessageType = "hitl_checkpoint"
	ToolMessage       MessageType = "tool"
	ResultMessage     MessageType = "result"
	NoticeMessage     MessageType = "notice" // the end of a job, in words; only Ringback writes it
	WhichMessage      MessageType = "which"  // asks which of several questions a reply is about; only Ringback writes it
)

// Message is one entry of a session: see "The chat" in docs/chat.md.
type Message struct {
	// ID counts the messages of a session, from 1.
	ID        int64     `json:"id"`
	CreatedAt time.Time `json:"createdAt"` // The time at which it was stored.
	// UpdatedAt is the time of its last change: when a call that it shows ended, or when its
	// question was closed.
	UpdatedAt time.Time `json:"updatedAt"`
	MessageBody
}

// Utterance is one contribution to a conversation.
type Utterance struct {
	Sender  Sender `json:"sender"`
	By      string `json:"by,omitempty"` // The author, if it is not the user themselves: an API key, or another person.
	Content string `json:"content"`      // The text.
}

// MessageBody is a message without the fields that the store adds.
type MessageBody struct {
	SessionID string `json:"sessionId"` // The chat that the message belongs to.
	UserID    string `json:"userId"`    // The user of the chat.
	Sender    Sender `json:"sender"`    // The author: user or assistant. Role is the same, in the AI SDK's terms.
	Role      Sender `json:"role"`
	// By names who wrote the message in the user's name: an API key, or another person. Empty if it was the
	// user themselves.
	By           string       `json:"by,omitempty"`
	Content      string       `json:"content"` // The message as text.
	Parts        []Part       `json:"parts"`   // The parts of the message, see Part; always present.
	MessageType  MessageType  `json:"messageType,omitempty"`
	Destination  string       `json:"destination,omitempty"`  // The recipient that an outside orchestrator gave.
	LogID        string       `json:"logId,omitempty"`        // The sender's id of the run.
	RequestID    ID           `json:"requestId,omitempty"`    // The job it belongs to; empty if it belongs to none.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"` // Set if the message asks a checkpoint's question.
	// Props is a JSON object with additional data, such as the props of a question.
	Props   json.RawMessage `json:"props,omitempty" jsonschema:"type=object"`
	Hearing *Hearing        `json:"hearing,omitempty"` // Set if the message is for Claude.
}

// FromOutside reports whether a system outside Ringback wrote the message. All that Claude and Ringback
// write belongs to a job, or asks to which question a message belongs.
func (m MessageBody) FromOutside() bool {
	return m.Sender == FromAssistant && m.RequestID == "" && m.MessageType != WhichMessage
}

// Author names the author of a message for people.
func (m MessageBody) Author() string {
	switch {
	case m.Sender == FromUser && m.By != "":
		return "From " + m.By
	case m.Sender == FromUser && m.UserID == "":
		return "You"
	case m.Sender == FromUser:
		return "User " + Bare(m.UserID) // who may be called Claude
	case m.FromOutside():
		return "From outside Ringback"
	case m.MessageType == NoticeMessage, m.MessageType == WhichMessage:
		return "Ringback"
	}
	return "Claude"
}

// Utterance returns the message as a contribution to its conversation.
func (m MessageBody) Utterance() Utterance {
	return Utterance{Sender: m.Sender, By: m.By, Content: m.Content}
}

// ReplyProps are the props of a user's message that answers a checkpoint.
type ReplyProps struct {
	InResponseTo        CheckpointType `json:"in_response_to"`
	ResolvesCheckpoint  bool           `json:"resolves_checkpoint"`
	CheckpointRunID     string         `json:"checkpoint_run_id"`
	CheckpointMessageID int64          `json:"checkpoint_message_id"`
}

// PartType is the type of a part of a message.
type PartType string

// The part types.
const (
	TextPart       PartType = "text"
	ToolCallPart   PartType = "tool-call"
	ToolResultPart PartType = "tool-result"
)

// PartState is the state of a tool call, in the AI SDK's terms.
type PartState string

// DeniedByUser begins the output that Claude receives for a tool call that a person denied.
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
	Text string   `json:"text,omitempty"` // The text of a text part.
	// ToolCallID links a tool call to its result. A chat has one part of each.
	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolName,omitempty"` // The name of the tool, for parts of a tool call.
	// State is the state of the call. Once it has a result, it is the state of the result.
	State PartState       `json:"state,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // The tool's input.
	// Output is the tool's output. While the call waits for a person's confirmation, it is the interim answer
	// to Claude.
	Output json.RawMessage `json:"output,omitempty"`
}

// OfTool reports whether a part is a tool call or its result.
func (p Part) OfTool() bool { return p.Type != TextPart }

// Text returns a message body with one text part.
func Text(sender Sender, content string) MessageBody {
	return MessageBody{
		Sender: sender, Role: sender, Content: content, Parts: []Part{{Type: TextPart, Text: content}},
		MessageType: TextMessage,
	}
}

// maxWords is the maximum number of bytes that the chat shows of a result without text, or of an
// input.
const maxWords = 2000

// NewResultMessage returns the message that shows a result in a chat: the first field that contains
// text for a person, or the result itself.
func NewResultMessage(result json.RawMessage) MessageBody {
	var fields map[string]any
	_ = UnmarshalExact(result, &fields) // a result that is not an object has no fields
	return DecodedResultMessage(fields, result)
}

// DecodedResultMessage is NewResultMessage for a result whose fields are at hand: it is large.
func DecodedResultMessage(fields map[string]any, result json.RawMessage) MessageBody {
	for _, name := range [...]string{"message", "summary", "answer", "reasoning", "text"} {
		if text, _ := fields[name].(string); text != "" {
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

// NewRequestMessage returns the message with which the user requested a job.
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

// Word is a message from a person to a job's Claude, with its status.
type Word struct {
	MessageID int64 `json:"messageId"` // The id of the message in the job's session.
	Hearing
}

// Hearing describes whether and when Claude has read a message.
type Hearing struct {
	Status HearingStatus `json:"hearing"`        // The state of the message: waiting, then heard.
	Turn   int           `json:"turn,omitempty"` // The number of the turn that read it.
	// BeforeToolCall is the number of that turn's next tool call: 1 for a message that was part of the turn's
	// prompt.
	BeforeToolCall int       `json:"beforeToolCall,omitempty"`
	At             time.Time `json:"heardAt,omitzero"` // The time at which it was read.
}

// Words describes the status for people.
func (h Hearing) Words() string {
	switch {
	case h.Status == Waiting:
		return "waiting for Claude to read it"
	case h.BeforeToolCall <= 1:
		return fmt.Sprintf("read as turn %d began", h.Turn)
	}
	return fmt.Sprintf("read in turn %d, before its tool call %d", h.Turn, h.BeforeToolCall)
}

// HearingStatus is the status of a message to Claude: waiting or heard.
type HearingStatus string

// The statuses of a message to Claude.
const (
	Waiting HearingStatus = "waiting" // the status of a message that no request to the model contains yet
	Heard   HearingStatus = "heard"   // the status of a message that Claude has read
)

// OfferToken matches the tokens next to people's messages in what Claude receives during a turn. They
// show which messages a request to the model contains.
var OfferToken = lazy.Regexp(`word_[a-z2-7]{26}`)

// NewOfferToken returns an unpredictable token.
func NewOfferToken() string { return "word_" + strings.ToLower(rand.Text()) }
