package job

import (
	"encoding/json"
	"time"
)

// CheckpointType is the type of a question that parks a job.
type CheckpointType string

// The checkpoint types.
const (
	Review             CheckpointType = "review"
	Confirmation       CheckpointType = "confirmation"
	ToolApproval       CheckpointType = "tool_approval"
	ErrorRecovery      CheckpointType = "error_recovery"
	InformationRequest CheckpointType = "information_request"
	FormRequirements   CheckpointType = "form_requirements"
)

// CheckpointTypes lists every type.
var CheckpointTypes = [...]CheckpointType{Review, Confirmation, ToolApproval, ErrorRecovery, InformationRequest, FormRequirements}

// State returns the state of a job parked at a checkpoint of this type.
func (t CheckpointType) State() State {
	if t.Binding() {
		return AwaitingApproval
	}
	return AwaitingInput
}

// Binding reports whether the reply decides about an effect. Such a decision is never inferred from
// an ambiguous sentence.
func (t CheckpointType) Binding() bool { return t == Review || t == Confirmation || t == ToolApproval }

// CheckpointID identifies a checkpoint. Its format is "chk_<partition>_<random>".
type CheckpointID string

// CheckpointStatus is the status of a checkpoint: waiting for a reply, or how it was closed.
type CheckpointStatus string

// The statuses. All but Open and Interpreting are final.
const (
	Open                CheckpointStatus = "open"
	Interpreting        CheckpointStatus = "reading"   // a reply arrived, and Claude interprets it
	Answered            CheckpointStatus = "answered"  // a person replied
	Superseded          CheckpointStatus = "clarified" // the reply was not clear: the checkpoint in `next` asks again
	CheckpointExpired   CheckpointStatus = "expired"   // no reply in time
	CheckpointCancelled CheckpointStatus = "cancelled" // the job ended before a reply, or moves to another version of its kind
)

// CheckpointStatuses lists every status.
var CheckpointStatuses = [...]CheckpointStatus{Open, Interpreting, Answered, Superseded, CheckpointExpired, CheckpointCancelled}

// Waits reports whether a reply is still accepted. While one is being interpreted, another may
// follow and supersede it.
func (s CheckpointStatus) Waits() bool { return s == Open || s == Interpreting }

// Checkpoint is a question to a person, see docs/chat.md.
type Checkpoint struct {
	// ID identifies the checkpoint. A reply must name it, except in a chat.
	ID      CheckpointID     `json:"id"`
	Type    CheckpointType   `json:"type"`    // The type of the question.
	Status  CheckpointStatus `json:"status"`  // Either "open" or "reading" while a reply is accepted.
	Message string           `json:"message"` // The question as shown to the person.
	// Props is a JSON object that describes what is asked; its fields depend on the type.
	Props     json.RawMessage `json:"props" jsonschema:"type=object"`
	RequestID ID              `json:"requestId,omitempty"` // The waiting job; empty if a system outside Ringback asked.
	SessionID string          `json:"sessionId"`           // The chat in which the question is asked.
	UserID    string          `json:"userId"`              // The user who is asked.
	MessageID int64           `json:"messageId"`           // The checkpoint's message in the session.
	// ToolCallID is the tool call in the chat that waits for the decision; empty if none does.
	ToolCallID string `json:"toolCallId,omitempty"`
	// Exchange is the conversation since the question was first asked, oldest first: replies that
	// were not clear or are being interpreted, and follow-up questions.
	Exchange []Utterance `json:"exchange,omitempty"`
	// Round counts the replies that were accepted for interpretation.
	Round      int          `json:"-"`
	Held       bool         `json:"held,omitempty"`      // True while Claude's call waits for the reply, in the same turn.
	CreatedAt  time.Time    `json:"createdAt"`           // The time at which it was asked.
	AnsweredAt time.Time    `json:"answeredAt,omitzero"` // The time at which it was closed; absent until then.
	Reply      *Reply       `json:"reply,omitempty"`     // The person's answer; absent until then.
	Next       CheckpointID `json:"next,omitempty"`      // The checkpoint that asks again if the reply was not clear.
	// Outcome describes the result of what the reply has allowed; absent while that is not over, and if the reply
	// allows nothing.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// StoppedCall returns the call of one of the CLI's tools that the checkpoint is about, and its
// tool. If no reply comes in time, the turn ends at this call, and the next one continues from it.
// Both are empty if the checkpoint is about something else.
func (c Checkpoint) StoppedCall() (id, tool string) {
	var p Props
	if c.ToolCallID == "" || UnmarshalExact(c.Props, &p) != nil || p.Action != "" {
		return "", ""
	}
	return c.ToolCallID, p.ToolName
}

// Props are the known fields of a checkpoint's props. Other fields may be present; they are stored
// unchanged.
type Props struct {
	CheckpointType   CheckpointType  `json:"checkpoint_type,omitempty"`
	AwaitingResponse bool            `json:"awaiting_response,omitempty"`
	RunID            string          `json:"run_id,omitempty"`
	ErrorType        string          `json:"error_type,omitempty"`    // The type of the error, such as "validation".
	ErrorField       string          `json:"error_field,omitempty"`   // The name of the requested value.
	CurrentValue     json.RawMessage `json:"current_value,omitempty"` // The rejected value.
	ValidValues      []any           `json:"valid_values,omitempty"`  // The values to choose from: strings or numbers.
	// Schema describes the requested values: a flat JSON Schema object, the subset that MCP
	// elicitation uses.
	Schema           json.RawMessage `json:"schema,omitempty"`
	CurrentValues    map[string]any  `json:"current_values,omitempty"`    // Values that are already known, by name.
	SuggestedReplies []string        `json:"suggested_replies,omitempty"` // Texts to offer as buttons.
	// OptionLabels are the options of a question that any text answers. A reply that is one of them is
	// never taken as a request to cancel the job.
	OptionLabels []string `json:"option_labels,omitempty"`
	// ToolCallID, ToolName and ToolInput describe the call to approve. Kind is the job's kind, and
	// Rule what a standing approval would permit.
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolName   string          `json:"tool_name,omitempty"`
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`
	ToolDir    string          `json:"tool_dir,omitempty"` // The directory of the call, see Operation.
	Kind       string          `json:"kind,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	// Covers describes which calls the rule allows, with earlier calls as examples.
	Covers *Covers `json:"covers,omitempty"`
	// Action and Input are the action to confirm.
	Action string          `json:"action,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	// Asked describes the operation to allow, split into segments so that values cannot pass for
	// the kind's words.
	Asked *Asked `json:"asked,omitempty"`
	// Iteration is the number of times the change under review was steered, and MaxIterations the
	// limit.
	Iteration     int `json:"iteration,omitempty"`
	MaxIterations int `json:"max_iterations,omitempty"`
	// OriginalQuestion is the first wording of the question, if this checkpoint asks again.
	OriginalQuestion string `json:"original_question,omitempty"`
	// OfferedChange is a reply that was a yes with a condition. "change it" passes it to Claude as
	// what the person wants instead.
	OfferedChange string            `json:"offered_change,omitempty"`
	Trees         map[string]string `json:"trees,omitempty"` // The ids of the git trees under review, by repository.
	// Yes and No are the answers to a confirmation, in the words of the action's kind, see Answers.
	Yes *AnswerProps `json:"yes,omitempty"`
	No  *AnswerProps `json:"no,omitempty"`
	// Preview shows what the action would do, as produced by the server. An approval is valid only
	// for exactly this preview.
	Preview   *Preview `json:"preview,omitempty"`
	ResumeURL string   `json:"resume_url,omitempty"` // Called with the reply if a system outside Ringback asked.
}

// Answers returns the wordings of a yes and a no. Only a question that the server composed has any:
// no one else decides which words allow something.
func (p Props) Answers() (yes, no *AnswerProps) {
	if p.Asked == nil {
		return nil, nil
	}
	return p.Yes, p.No
}

// TakesChange reports whether a person may ask for something else instead: Claude then makes the
// change. Ringback's own question, which is about no call of Claude's, is answered with yes or no: a
// budget is raised or it is not.
func (p Props) TakesChange() bool { return p.Asked == nil || p.Action != "" || p.ToolName != "" }

// AnswerProps is one of the two answers to a confirmation, in three wordings.
type AnswerProps struct {
	Label   string   `json:"label" yaml:"label"`         // The label of its button.
	Message string   `json:"message" yaml:"message"`     // Its text in the chat.
	Also    []string `json:"also,omitempty" yaml:"also"` // More texts with the same meaning.
}

// Texts returns all wordings of the answer; none for nil.
func (a *AnswerProps) Texts() []string {
	if a == nil {
		return nil
	}
	return append([]string{a.Label, a.Message}, a.Also...)
}

// Decision is a person's decision at a checkpoint.
type Decision string

// The decisions. Cancel withdraws the whole job. Steer requests something else: another round at a
// review, a different input otherwise. It allows nothing.
const (
	Approve Decision = "approve"
	Deny    Decision = "deny"
	Cancel  Decision = "cancel"
	Steer   Decision = "steer"
)

// Reply is a person's answer to a checkpoint.
type Reply struct {
	Decision Decision       `json:"decision,omitempty"` // Set if the checkpoint asked for one, and for a cancellation.
	Values   map[string]any `json:"values,omitempty"`   // The requested values, by name.
	Text     string         `json:"text,omitempty"`     // The text that the person wrote, if any.
	Reason   string         `json:"reason,omitempty"`   // The reason for a denial, as interpreted, or what they want instead.
	// Confidence is the confidence in the interpretation of Text, 0 to 1; 1 if nothing had to be
	// interpreted.
	Confidence float64 `json:"confidence,omitempty"`
	// Exchange is the conversation from the question to this answer, oldest first, if it took more
	// than one message.
	Exchange  []Utterance `json:"exchange,omitempty"`
	MessageID int64       `json:"messageId,omitempty"` // The person's message in the session.
	// By is the author, if it is not the user themselves: an API key, or another person.
	By string `json:"by,omitempty"`
}

// UnmarshalJSON decodes numbers in the values as json.Number, so they keep all digits.
func (r *Reply) UnmarshalJSON(text []byte) error {
	type plain Reply
	return UnmarshalExact(text, (*plain)(r))
}
