package job

import (
	"fmt"
	"time"
)

// Word is a message of a person that is for a job's Claude, and whether Claude has heard it.
type Word struct {
	// MessageID is the message in the job's session.
	MessageID int64 `json:"messageId"`
	Hearing
}

// Hearing says whether Claude has heard a message, and when.
type Hearing struct {
	// Status is waiting, then heard.
	Status HearingStatus `json:"hearing"`
	// Turn is the turn that has heard it, and BeforeToolCall which of that turn's tool calls came
	// next: 1 for a message that the turn began with.
	Turn           int `json:"turn,omitempty"`
	BeforeToolCall int `json:"beforeToolCall,omitempty"`
	// At is when it was heard.
	At time.Time `json:"heardAt,omitzero"`
}

// Words says it to people.
func (h Hearing) Words() string {
	switch {
	case h.Status == Waiting:
		return "waiting until Claude hears it"
	case h.BeforeToolCall <= 1:
		return fmt.Sprintf("heard as turn %d began", h.Turn)
	}
	return fmt.Sprintf("heard in turn %d, before its tool call %d", h.Turn, h.BeforeToolCall)
}

// HearingStatus is waiting or heard.
type HearingStatus string

// The statuses of a message to Claude.
const (
	// Waiting is one that no request to the model holds yet.
	Waiting HearingStatus = "waiting"
	// Heard is one that Claude has read.
	Heard HearingStatus = "heard"
)

// OfferTokens begin the tokens that stand beside words of people in what Claude is told while a turn
// runs; OfferTokenSize is how long they are. By them it is seen which words a request to the model
// holds.
const (
	OfferTokens    = "word_"
	OfferTokenSize = len(OfferTokens) + 26
)
