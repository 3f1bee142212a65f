package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// EventData contains the fields of events that people read; each event has some of them.
type EventData struct {
	Status     State     `json:"status"`
	Phase      Phase     `json:"phase"`
	PhaseUntil time.Time `json:"phaseUntil"`
	// Message is a text, or a message of the chat.
	Message  json.RawMessage `json:"message"`
	Progress float64         `json:"progress"`
	Total    int             `json:"total"`

	Error           string   `json:"error"`
	ErrorCode       Code     `json:"errorCode"`
	Attempt         int      `json:"attempt"`
	MaxAttempts     int      `json:"maxAttempts"`
	LastFailure     *Failure `json:"lastFailure"`
	KindVersion     string   `json:"kindVersion"`
	NextKindVersion string   `json:"nextKindVersion"`

	Action   string        `json:"action"`
	Tool     string        `json:"tool"`
	Outcome  OutcomeStatus `json:"outcome"`
	Reported bool          `json:"reported"`
	Word
}

// Contents returns the data of an event. A newer server may send other data, which is left out.
func (e Event) Contents() (d EventData) {
	_ = json.Unmarshal(e.Data, &d)
	return d
}

// Text returns the message if it is a text.
func (d EventData) Text() (text string) {
	_ = json.Unmarshal(d.Message, &text)
	return text
}

// Words describes an event of a type for people.
func (d EventData) Words(t EventType) string {
	switch t {
	case EventPending, EventRunning:
		words := WaitingWords(d.Phase, d.PhaseUntil, d.LastFailure)
		return strings.Trim(words+"; "+FailureWords(d.Attempt, d.MaxAttempts, d.LastFailure), "; ")
	case EventActivity:
		return fmt.Sprintf("%.0f%% %s", d.Progress, d.Text())
	case EventPartial:
		return fmt.Sprintf("%d so far", d.Total)
	case EventHeard:
		return fmt.Sprintf("message %d was %s", d.MessageID, d.Word.Words())
	case EventAction:
		return FailedAction{
			Action: d.Action, Tool: d.Tool, Outcome: Outcome{Status: d.Outcome, Message: d.Text(), Reported: d.Reported},
		}.Words()
	case EventVersion:
		if d.NextKindVersion != "" {
			return "moves to version " + ShortVersion(d.NextKindVersion) + " of its kind with its next turn"
		}
		return "has version " + ShortVersion(d.KindVersion) + " of its kind"
	case EventReceived:
		return "the result was accepted"
	case EventError:
		return ErrorWords(d.Error, d.ErrorCode)
	default:
	}
	return cmp.Or(d.Text(), string(d.Phase))
}

// FailureWords describes which attempt failed and why; "" if none has.
func FailureWords(attempt, most int, last *Failure) string {
	if last == nil {
		return ""
	}
	which := fmt.Sprintf("turn %d failed", last.Turn)
	switch {
	case last.ErrorCode.IsRateLimit(), last.ErrorCode == CodeBudgetExceeded:
		which = fmt.Sprintf("turn %d was cut off", last.Turn)
	case attempt > 0:
		which = fmt.Sprintf("attempt %d of %d failed", attempt, most)
	}
	if why := ErrorWords(last.Error, last.ErrorCode); why != "" {
		which += ": " + why
	}
	return which
}

// ErrorWords describes an error for people, with its code.
func ErrorWords(message string, code Code) string {
	if code == "" || message == "" {
		return message + string(code)
	}
	return fmt.Sprintf("%s (%s)", message, code)
}

// ValueText returns a value as people read and write it: text as it is, anything else as JSON.
func ValueText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(MustJSON(v))
}
