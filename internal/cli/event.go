package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

// eventData is what of an event's data is told; each event has some of it.
type eventData struct {
	Message json.RawMessage `json:"message"` // a text, or a message of the chat
	Percent float64         `json:"progress"`
	Total   int             `json:"total"`
	Error   string          `json:"error"`
	Code    job.Code        `json:"errorCode"`
	// Attempt is how many attempts failed in a row, of at most MaxAttempts, and
	// LastFailure how the last one did; nil when none has.
	Attempt     int          `json:"attempt"`
	MaxAttempts int          `json:"maxAttempts"`
	LastFailure *job.Failure `json:"lastFailure"`
	// Phase is what goes on within the state, PhaseUntil until when at least.
	Phase      job.Phase `json:"phase"`
	PhaseUntil time.Time `json:"phaseUntil"`
}

// text is the message where it is a text.
func (d eventData) text() string {
	var text string
	_ = json.Unmarshal(d.Message, &text) // a message of the chat is none
	return text
}

func dataOf(e client.Event) eventData {
	var d eventData
	if json.Unmarshal(e.Data, &d) != nil {
		return eventData{}
	}
	return d
}

// inWords says what happened, in one line.
func inWords(e client.Event) string {
	d := dataOf(e)
	switch e.Type() {
	case job.EventPending:
		return d.phase() + d.again()
	case job.EventRunning:
		return d.phase() + d.again()
	case job.EventActivity:
		return fmt.Sprintf("%3.0f%%  %s", d.Percent, oneLine(d.text()))
	case job.EventPartial:
		return fmt.Sprintf("%d so far", d.Total)
	case job.EventMessage:
		return messageInWords(d.Message)
	case job.EventHeard:
		return hearingInWords(e.Data)
	case job.EventCheckpoint, job.EventResolved:
		return checkpointInWords(e.Data)
	case job.EventReceived:
		made := ""
		if e.Simulated {
			made = " (simulated: true)"
		}
		return "the result was accepted" + made + ": ringback status " + e.RequestID.Short()
	case job.EventError:
		return reason(job.Job{Error: oneLine(d.Error), ErrorCode: d.Code})
	default:
	}
	return oneLine(cmp.Or(d.text(), string(d.Phase)))
}

// hearingInWords says which message Claude has heard, and when.
func hearingInWords(data json.RawMessage) string {
	var w job.Word
	if json.Unmarshal(data, &w) != nil {
		return ""
	}
	return fmt.Sprintf("message %d was %s", w.MessageID, w.Words())
}

// phase says what goes on in the state that begins, or goes on.
func (d eventData) phase() string {
	return phaseInWords(d.Phase, d.PhaseUntil, d.LastFailure)
}

// phaseInWords says what goes on within a state; "" for no phase.
func phaseInWords(phase job.Phase, until time.Time, last *job.Failure) string {
	if phase == job.NoPhase {
		return ""
	}
	return oneLine(cmp.Or(job.WaitingWords(phase, until, last), string(phase))) // a newer server may have more of them
}

// again says of a turn that it starts over, and why.
func (d eventData) again() string {
	if why := failedBefore(d.Attempt, d.MaxAttempts, d.LastFailure); why != "" {
		return "; " + why
	}
	return ""
}

// failedBefore says which attempt failed and why; "" when none has.
func failedBefore(attempt, most int, last *job.Failure) string {
	if last == nil {
		return ""
	}
	which := fmt.Sprintf("turn %d failed", last.Turn)
	switch {
	case last.ErrorCode.IsLimit(), last.ErrorCode == job.CodeBudgetExceeded:
		which = fmt.Sprintf("turn %d was cut off", last.Turn)
	case attempt > 0:
		which = fmt.Sprintf("attempt %d of %d failed", attempt, most)
	}
	if why := reason(job.Job{Error: oneLine(last.Error), ErrorCode: last.ErrorCode}); why != "" {
		which += ": " + why
	}
	return which
}

// messageInWords is a message of a chat in one line: who, and what.
func messageInWords(text json.RawMessage) string {
	var m job.Message
	if json.Unmarshal(text, &m) != nil {
		return ""
	}
	said := []string{oneLine(m.Content)}
	if said[0] == "" {
		said = nil
	}
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			said = append(said, line)
		}
	}
	return speaker(m) + ": " + strings.Join(said, "  ")
}

// checkpointInWords is a question in one line, with how to answer it, or what
// became of it.
func checkpointInWords(text json.RawMessage) string {
	var c job.Checkpoint
	if json.Unmarshal(text, &c) != nil {
		return ""
	}
	if !c.Status.Waits() {
		words := string(c.Status)
		if c.Reply != nil {
			words += ": " + oneLine(strings.TrimSpace(string(c.Reply.Decision)+" "+c.Reply.Text))
		}
		return words
	}
	if c.Type == job.Review {
		return "waits for review: ringback diff | logs | steer -p … | approve | reject " + c.RequestID.Short()
	}
	words := oneLine(c.Message)
	if replies := suggested(c.Props); replies != "" {
		words += " [" + replies + "]"
	}
	return words + "  (ringback reply " + c.ID.Short() + " <text>)"
}
