package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/internal/text/spelling"
)

// EventData contains the fields of events that people read; each event has some of them.
type EventData struct {
	Status     State           `json:"status"`
	Phase      Phase           `json:"phase"`
	PhaseUntil time.Time       `json:"phaseUntil"`
	Message    json.RawMessage `json:"message"` // A text, or a message of the chat.
	Progress   float64         `json:"progress"`
	Total      int             `json:"total"`

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

// QueuePlace is the place in the queue of a job that waits for a worker.
type QueuePlace struct {
	// OwnJobs counts the jobs of the same user that start before this one.
	OwnJobs int64 `json:"ownJobs"`
	// OtherUsers counts the other users with queued jobs of the same priority. API keys take turns, and
	// then the users of each. The count may include users without remaining jobs, if they were
	// cancelled since their last turn.
	OtherUsers int64 `json:"otherUsers"`
}

// Words describes the place for people.
func (q QueuePlace) Words() string {
	var before []string
	if q.OwnJobs > 0 {
		before = append(before, spelling.Count(int(q.OwnJobs), "other job")+" of the same user first")
	}
	if q.OtherUsers > 0 {
		before = append(before, spelling.Count(int(q.OtherUsers), "other user")+" in line")
	}
	return cmp.Or(strings.Join(before, ", "), "next in line")
}

// WaitingWords describes a phase for people. until is set if the phase ends at a set time; last is
// the failure of the latest turn, or nil.
func WaitingWords(phase Phase, until time.Time, last *Failure) string {
	switch {
	case until.IsZero():
	case phase == Queued:
		return "waiting for the next attempt"
	case phase == WaitingForLimit && last != nil && last.ErrorCode == CodeSignedOut:
		return "Claude is not signed in"
	case phase == WaitingForLimit && last != nil && last.ErrorCode == CodeBudgetExceeded:
		return "waiting until 00:00 UTC: a daily budget is used up"
	case phase == WaitingForLimit:
		return "waiting for the end of a limit"
	}
	return cmp.Or(phase.Words(), string(phase)) // a newer server may have more phases
}

// Reports reports whether Activity is current. For a job that waits or does something else, it is
// outdated. Templates of the console call it.
func (j Job) Reports() bool {
	return j.Activity != nil && j.State == Running && (j.Phase == "" || j.Phase == AtWork || j.Phase == Preparing)
}

// Doing describes briefly what happens within the job's state; "" if there is nothing to add.
func (j Job) Doing() string {
	words := WaitingWords(j.Phase, j.PhaseUntil, j.LastFailure)
	if j.Queue == nil {
		return words
	}
	return words + ": " + j.Queue.Words()
}

// RoundWords names a round of a change for people: "round 1 of at most 6". iteration is the number
// of times the change was steered before, 0 in the first round, and maxIterations the limit. If
// maxIterations is 0, the limit is left out.
func RoundWords(iteration, maxIterations int) string {
	if maxIterations == 0 {
		return fmt.Sprintf("round %d", iteration+1)
	}
	return fmt.Sprintf("round %d of at most %d", iteration+1, maxIterations+1)
}
