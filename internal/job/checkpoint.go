package job

import (
	"encoding/json"
	"time"
)

// CheckpointType is the sort of question a job parks at.
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

// Binding reports whether the reply decides about something that happens: such
// a decision is never inferred from an ambiguous sentence.
func (t CheckpointType) Binding() bool {
	switch t {
	case Review, Confirmation, ToolApproval:
		return true
	case ErrorRecovery, InformationRequest, FormRequirements:
		return false
	}
	return false
}

// CheckpointID identifies a checkpoint. It reads "chk_<partition>_<random>".
type CheckpointID string

// CheckpointStatus says whether a checkpoint still waits.
type CheckpointStatus string

// The statuses. All but Open and Interpreting are final.
const (
	Open                CheckpointStatus = "open"
	Interpreting        CheckpointStatus = "reading"   // a reply came, and Claude is asked what it means
	Answered            CheckpointStatus = "answered"  // a person replied
	Superseded          CheckpointStatus = "clarified" // the reply was not clear: the checkpoint Next asks again
	CheckpointExpired   CheckpointStatus = "expired"   // nobody replied in time
	CheckpointCancelled CheckpointStatus = "cancelled" // the job ended otherwise
)

// CheckpointStatuses lists every status.
var CheckpointStatuses = [...]CheckpointStatus{Open, Interpreting, Answered, Superseded, CheckpointExpired, CheckpointCancelled}

// Waits reports whether a reply is still taken. One that is being read may be
// followed by a further one, which supersedes that reading.
func (s CheckpointStatus) Waits() bool { return s == Open || s == Interpreting }

// Checkpoint is a question to a person, see docs/people.md.
type Checkpoint struct {
	// ID is what a reply names; replies in a chat need not.
	ID CheckpointID `json:"id"`
	// Type says what sort of question it is.
	Type CheckpointType `json:"type"`
	// Status says whether it still waits for a reply.
	Status CheckpointStatus `json:"status"`
	// Message is the question as the person reads it.
	Message string `json:"message"`
	// Props is a JSON object that describes what is asked, see Props.
	Props json.RawMessage `json:"props" jsonschema:"type=object"`
	// RequestID is the job that waits; empty when something outside Ringback asked.
	RequestID ID `json:"requestId,omitempty"`
	// SessionID and UserID say whom it is put to, and where.
	SessionID string `json:"sessionId"`
	UserID    string `json:"userId"`
	// MessageID is the checkpoint's message in the session.
	MessageID int64 `json:"messageId"`
	// ToolCallID is the call of a tool in the chat that waits for the decision;
	// empty where no call does.
	ToolCallID string `json:"toolCallId,omitempty"`
	// Exchange is what was said since the question was first put, oldest first:
	// replies that were not clear, or are being read, and what was asked back.
	Exchange []Utterance `json:"exchange,omitempty"`
	// Round counts the replies that were taken to be read.
	Round int `json:"-"`
	// Held is whether Claude's call still waits for the reply, in the same turn.
	Held bool `json:"held,omitempty"`
	// CreatedAt is when it was asked.
	CreatedAt time.Time `json:"createdAt"`
	// AnsweredAt is when it was closed; zero before.
	AnsweredAt time.Time `json:"answeredAt,omitzero"`
	// Reply is what the person answered; nil before.
	Reply *Reply `json:"reply,omitempty"`
	// Next is the checkpoint that asks again where the reply was not clear.
	Next CheckpointID `json:"next,omitempty"`
}

// StoppedCall returns the call of one of the CLI's tools that the checkpoint is about, and its tool:
// if nobody answers in time, the turn ends at this call, and the next one continues from it. Both
// are empty if the checkpoint is about something else.
func (c Checkpoint) StoppedCall() (id, tool string) {
	var p Props
	if c.ToolCallID == "" || json.Unmarshal(c.Props, &p) != nil || p.Action != "" {
		return "", ""
	}
	return c.ToolCallID, p.ToolName
}

// Props are the known fields of a checkpoint's props.
// Others may stand beside them and are kept as they came.
type Props struct {
	CheckpointType   CheckpointType `json:"checkpoint_type,omitempty"`
	AwaitingResponse bool           `json:"awaiting_response,omitempty"`
	RunID            string         `json:"run_id,omitempty"`
	// ErrorType is what went wrong, such as "validation".
	ErrorType string `json:"error_type,omitempty"`
	// ErrorField is the name of the value that is asked for.
	ErrorField string `json:"error_field,omitempty"`
	// CurrentValue is the value that was refused.
	CurrentValue json.RawMessage `json:"current_value,omitempty"`
	// ValidValues are the values to choose from: strings or numbers.
	ValidValues []any `json:"valid_values,omitempty"`
	// Schema describes the values that are asked for: a flat JSON Schema object,
	// the subset that MCP elicitation uses.
	Schema json.RawMessage `json:"schema,omitempty"`
	// CurrentValues are values that are known already, by name.
	CurrentValues map[string]any `json:"current_values,omitempty"`
	// SuggestedReplies are texts to offer as buttons.
	SuggestedReplies []string `json:"suggested_replies,omitempty"`
	// ToolCallID, ToolName and ToolInput are the call that is to be allowed, Kind the
	// job's kind and Rule what a yes for more than once permits.
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolName   string          `json:"tool_name,omitempty"`
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	// Covers is what the rule lets through, with earlier calls as examples.
	Covers *Covers `json:"covers,omitempty"`
	// Action and Input are the action that is to be confirmed.
	Action string          `json:"action,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	// Asked is what is to be allowed, in parts, so that values cannot pose as the
	// kind's words.
	Asked *Asked `json:"asked,omitempty"`
	// Iteration is how often the change under review was steered already, and
	// MaxIterations how often it may be.
	Iteration     int `json:"iteration,omitempty"`
	MaxIterations int `json:"max_iterations,omitempty"`
	// OriginalQuestion is the question as it was first put, where this one asks again.
	OriginalQuestion string `json:"original_question,omitempty"`
	// OfferedChange is a reply that was a yes with a condition: "change it" hands it
	// to Claude as what the person wants instead.
	OfferedChange string `json:"offered_change,omitempty"`
	// Trees are git's ids of exactly what is under review, by repository.
	Trees map[string]string `json:"trees,omitempty"`
	// Yes and No are the answers to a confirmation, in its asker's own words.
	Yes *AnswerProps `json:"yes,omitempty"`
	No  *AnswerProps `json:"no,omitempty"`
	// Preview is what the action would do, as the server has made it; an approval is of
	// exactly this.
	Preview *Preview `json:"preview,omitempty"`
	// ResumeURL is called with the reply when something outside Ringback asked.
	ResumeURL string `json:"resume_url,omitempty"`
}

// AnswerProps is one of the two answers to a confirmation, worded in three ways.
type AnswerProps struct {
	// Label is what its button says.
	Label string `json:"label"`
	// Message is how it reads in the chat.
	Message string `json:"message"`
	// Also are further texts that mean the same.
	Also []string `json:"also,omitempty"`
}

// Decision is a person's yes or no.
type Decision string

// The decisions; Cancel withdraws the whole job. Steer asks for something else: at
// a review for another round, else for another input. It allows nothing.
const (
	Approve Decision = "approve"
	Deny    Decision = "deny"
	Cancel  Decision = "cancel"
	Steer   Decision = "steer"
)

// Reply is a person's answer to a checkpoint.
type Reply struct {
	// Decision is given where the checkpoint asked for one, and for a cancellation.
	Decision Decision `json:"decision,omitempty"`
	// Values are the values that were asked for, by name.
	Values map[string]any `json:"values,omitempty"`
	// Text is what the person wrote, if they did.
	Text string `json:"text,omitempty"`
	// Reason is why they said no, as far as it was understood, or what they want
	// instead.
	Reason string `json:"reason,omitempty"`
	// Confidence is how sure the reading of Text is, 0 to 1; 1 where nothing had to
	// be understood.
	Confidence float64 `json:"confidence,omitempty"`
	// Exchange is all that was said from the question to this answer, oldest first,
	// where it took more than one message.
	Exchange []Utterance `json:"exchange,omitempty"`
	// MessageID is the person's message in the session.
	MessageID int64 `json:"messageId,omitempty"`
}

// UnmarshalJSON lets the numbers among the values keep their digits, as json.Number.
func (r *Reply) UnmarshalJSON(text []byte) error {
	type plain Reply
	return UnmarshalExact(text, (*plain)(r))
}
