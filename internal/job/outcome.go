package job

import (
	"strings"
	"time"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

// Outcome describes the result of something that a person has allowed: an action, a tool call, or the
// publication of a change.
type Outcome struct {
	Status OutcomeStatus `json:"status"` // The outcome.
	// Message is the reason if it did not succeed, or else what the action returned, on one line; empty
	// if there is nothing to add.
	Message string `json:"message,omitempty"`
	// Reported is true if it is known only from the output of the Claude CLI, which is no evidence: the
	// programs of the turn could have written it.
	Reported bool      `json:"reported,omitempty"`
	At       time.Time `json:"at"` // The time at which it was recorded.
}

// OutcomeStatus is the status of something that a person has allowed and that is over.
type OutcomeStatus string

// The statuses. All but OutcomeSucceeded are reported to the people concerned.
const (
	OutcomeSucceeded OutcomeStatus = "succeeded"
	OutcomeFailed    OutcomeStatus = "failed"
	OutcomeTimedOut  OutcomeStatus = "timed_out"
	OutcomeUnknown   OutcomeStatus = "unknown" // it was interrupted, so it may have taken effect
	OutcomeRefused   OutcomeStatus = "refused" // Claude asked for it, and the approval was no longer valid for it
	OutcomeNotRun    OutcomeStatus = "not_run" // Claude never asked for it
)

var outcomeTexts = map[OutcomeStatus]string{
	OutcomeSucceeded: "It ran", OutcomeFailed: "It failed", OutcomeTimedOut: "It timed out",
	OutcomeUnknown: "Whether it took effect is not known", OutcomeRefused: "It was not run", OutcomeNotRun: "It was not run",
}

// maxOutcome is the maximum length of an outcome's message in bytes.
const maxOutcome = 500

// NewOutcome returns an outcome with a message that untrusted programs may have written.
func NewOutcome(status OutcomeStatus, message string) Outcome {
	return Outcome{Status: status, Message: excerpt.Head(literal.Text(strings.Join(strings.Fields(message), " ")), maxOutcome)}
}

// Words describes the outcome for people: the sentence and the message.
func (o Outcome) Words() string {
	if o.Message == "" {
		return o.Sentence() + "."
	}
	return o.Sentence() + ": " + o.Message
}

// Sentence describes the outcome in Ringback's own words.
func (o Outcome) Sentence() string {
	words := outcomeTexts[o.Status]
	if words == "" { // a newer server may have more
		words = "It is " + string(o.Status)
	}
	if o.Reported {
		words = "As the Claude CLI reports, i" + words[1:]
	}
	return words
}

// OutcomeWords describes the outcome for people; empty if there is none.
func (c Checkpoint) OutcomeWords() string {
	if c.Outcome == nil {
		return ""
	}
	return c.Outcome.Words()
}

// FailedAction is something that a person has allowed and that did not succeed.
type FailedAction struct {
	CheckpointID CheckpointID `json:"checkpointId"` // The question at which it was allowed.
	// Action is the name of the action, or finalize for the publication of a change; absent for a tool call.
	Action string `json:"action,omitempty"`
	Tool   string `json:"tool,omitempty"` // The name of the tool; absent for an action.
	Outcome
}

// Words describes it for people.
func (f FailedAction) Words() string { return Bare(f.Action+f.Tool) + ": " + f.Outcome.Words() }
