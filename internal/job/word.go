package job

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"ringback/internal/lazy"
)

// Word is a message from a person to a job's Claude, with its status.
type Word struct {
	// MessageID is the id of the message in the job's session.
	MessageID int64 `json:"messageId"`
	Hearing
}

// Hearing describes whether and when Claude has read a message.
type Hearing struct {
	// Status is waiting, then heard.
	Status HearingStatus `json:"hearing"`
	// Turn is the turn that read it, and BeforeToolCall the number of that turn's next tool call: 1
	// for a message that was part of the turn's prompt.
	Turn           int `json:"turn,omitempty"`
	BeforeToolCall int `json:"beforeToolCall,omitempty"`
	// At is the time at which it was read.
	At time.Time `json:"heardAt,omitzero"`
}

// Words describes the status for people.
func (h Hearing) Words() string {
	switch {
	case h.Status == Waiting:
		return "waiting until Claude hears it"
	case h.BeforeToolCall <= 1:
		return fmt.Sprintf("heard as turn %d began", h.Turn)
	}
	return fmt.Sprintf("heard in turn %d, before its tool call %d", h.Turn, h.BeforeToolCall)
}

// HearingStatus is the status of a message to Claude: waiting or heard.
type HearingStatus string

// The statuses of a message to Claude.
const (
	// Waiting is the status of a message that no request to the model contains yet.
	Waiting HearingStatus = "waiting"
	// Heard is the status of a message that Claude has read.
	Heard HearingStatus = "heard"
)

// OfferToken matches the tokens next to people's messages in what Claude receives during a turn. They
// show which messages a request to the model contains.
var OfferToken = lazy.Regexp(`word_[a-z2-7]{26}`)

// NewOfferToken returns an unpredictable token.
func NewOfferToken() string { return "word_" + strings.ToLower(rand.Text()) }
