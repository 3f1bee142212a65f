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

// eventData is the data of an event that is shown; each event has some of it.
type eventData struct {
	Message json.RawMessage `json:"message"` // a text, or a message of the chat
	Percent float64         `json:"progress"`
	Total   int             `json:"total"`
	Error   string          `json:"error"`
	Code    job.Code        `json:"errorCode"`
	// Attempt is the number of consecutive failed attempts, of at most MaxAttempts. LastFailure
	// describes the last one; nil if there is none.
	Attempt     int          `json:"attempt"`
	MaxAttempts int          `json:"maxAttempts"`
	LastFailure *job.Failure `json:"lastFailure"`
	// Phase is the phase within the state. It lasts until PhaseUntil at least.
	Phase      job.Phase `json:"phase"`
	PhaseUntil time.Time `json:"phaseUntil"`
	// Action or Tool is what has ended, and Outcome how. Reported is as in job.Outcome.
	Action   string            `json:"action"`
	Tool     string            `json:"tool"`
	Outcome  job.OutcomeStatus `json:"outcome"`
	Reported bool              `json:"reported"`
}

// action returns what an event about an action reports.
func (d eventData) action() job.FailedAction {
	return job.FailedAction{
		Action: d.Action, Tool: d.Tool, Outcome: job.Outcome{Status: d.Outcome, Message: d.text(), Reported: d.Reported},
	}
}

// text returns the message if it is a string.
func (d eventData) text() string { return decoded[string](d.Message) }

// decoded decodes JSON. The result is zero if the JSON describes something else.
func decoded[T any](text json.RawMessage) T {
	var v, none T
	if json.Unmarshal(text, &v) != nil {
		return none
	}
	return v
}

// listIn returns the elements of a list in a JSON object, as received.
func listIn(object json.RawMessage, name string) []json.RawMessage {
	return decoded[[]json.RawMessage](decoded[map[string]json.RawMessage](object)[name])
}

// messageOf returns the chat message of an event; zero if there is none.
func messageOf(e client.Event) job.Message {
	if e.Type() != job.EventMessage {
		return job.Message{}
	}
	return decoded[job.Message](dataOf(e).Message)
}

func dataOf(e client.Event) eventData { return decoded[eventData](e.Data) }

// inWords describes an event in one line.
func inWords(e client.Event) string {
	d := dataOf(e)
	switch e.Type() {
	case job.EventPending, job.EventRunning:
		return d.phase()
	case job.EventActivity:
		return fmt.Sprintf("%3.0f%%  %s", d.Percent, oneLine(d.text()))
	case job.EventPartial:
		return fmt.Sprintf("%d so far", d.Total)
	case job.EventMessage:
		return messageInWords(messageOf(e))
	case job.EventAction:
		return d.action().Words()
	case job.EventVersion:
		return versionInWords(decoded[job.Job](e.Data))
	case job.EventHeard:
		word := decoded[job.Word](e.Data)
		return fmt.Sprintf("message %d was %s", word.MessageID, word.Words())
	case job.EventCheckpoint, job.EventResolved:
		return checkpointInWords(decoded[job.Checkpoint](e.Data))
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

// versionInWords describes the move of a job to another version of its kind.
func versionInWords(j job.Job) string {
	if j.NextKindVersion != "" {
		return "moves to version " + job.ShortVersion(j.NextKindVersion) + " of its kind with its next turn"
	}
	return "has version " + job.ShortVersion(j.KindVersion) + " of its kind"
}

// phase describes the phase in the current state, and why a turn is retried.
func (d eventData) phase() string {
	words := phaseInWords(d.Phase, d.PhaseUntil, d.LastFailure)
	if why := failedBefore(d.Attempt, d.MaxAttempts, d.LastFailure); why != "" {
		words += "; " + why
	}
	return words
}

// phaseInWords describes a phase, or returns "" for no phase.
func phaseInWords(phase job.Phase, until time.Time, last *job.Failure) string {
	if phase == job.NoPhase {
		return ""
	}
	return oneLine(cmp.Or(job.WaitingWords(phase, until, last), string(phase))) // a newer server may have more phases
}

// failedBefore describes which attempt failed and why, or returns "" if none has.
func failedBefore(attempt, most int, last *job.Failure) string {
	if last == nil {
		return ""
	}
	which := fmt.Sprintf("turn %d failed", last.Turn)
	switch {
	case last.ErrorCode.IsRateLimit(), last.ErrorCode == job.CodeBudgetExceeded:
		which = fmt.Sprintf("turn %d was cut off", last.Turn)
	case attempt > 0:
		which = fmt.Sprintf("attempt %d of %d failed", attempt, most)
	}
	if why := reason(job.Job{Error: oneLine(last.Error), ErrorCode: last.ErrorCode}); why != "" {
		which += ": " + why
	}
	return which
}

// messageInWords formats a chat message in one line: sender and content.
func messageInWords(m job.Message) string {
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

// checkpointInWords formats a question in one line, with how to answer it or its outcome.
func checkpointInWords(c job.Checkpoint) string {
	if !c.Status.Waits() {
		words := string(c.Status)
		if c.Reply != nil {
			words += ": " + oneLine(strings.TrimSpace(string(c.Reply.Decision)+" "+c.Reply.Text))
		}
		return strings.TrimSpace(words + " " + c.OutcomeWords())
	}
	if c.Type == job.Review {
		return "waits for review: ringback diff | logs | steer -p … | approve | reject " + c.RequestID.Short()
	}
	words := "asks (ringback reply " + c.ID.Short() + " <text>): " + headed(c) // ours first, which the question cannot pose as
	if replies := suggested(c.Props); replies != "" {
		words += " [" + replies + "]"
	}
	return words
}
