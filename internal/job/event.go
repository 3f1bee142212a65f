package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// EventType is the last part of an event's name, after the kind's prefix.
type EventType string

// The types of events (see Event).
const (
	EventPending  EventType = "pending"
	EventRunning  EventType = "running"
	EventActivity EventType = "activity"
	EventPartial  EventType = "partial"
	EventMessage  EventType = "message"
	EventHeard    EventType = "message:heard" // sent when Claude has read a message
	// EventCheckpoint is sent when a checkpoint asks a person, and EventResolved when it no longer
	// waits.
	EventCheckpoint EventType = "checkpoint"
	EventResolved   EventType = "checkpoint:resolved"
	EventAction     EventType = "action" // sent when an action has ended, or something else that a person has allowed
	// EventVersion is sent when a job is moved to another version of its kind, and when it has that version.
	EventVersion   EventType = "version"
	EventReceived  EventType = "received"
	EventError     EventType = "error"
	EventCancelled EventType = "cancelled"
	EventRejected  EventType = "rejected"
)

// CutEvent splits an event's name into the kind's prefix, which may contain colons, and its type.
func CutEvent(name string) (prefix string, t EventType) {
	for _, t := range []EventType{EventResolved, EventHeard} { // these contain a colon, too
		if prefix, ok := strings.CutSuffix(name, ":"+string(t)); ok {
			return prefix, t
		}
	}
	i := strings.LastIndexByte(name, ':')
	return name[:max(i, 0)], EventType(name[i+1:])
}

// EventTimeLayout is the format of times in events: RFC 3339 with milliseconds, in UTC.
const EventTimeLayout = "2006-01-02T15:04:05.000Z"

// Event is something that happened to a job, as WebSocket clients receive it.
type Event struct {
	// ID orders the events of one user. It always has 16 digits, and each is greater than the one
	// before. Pass it as "since" to resume.
	ID        Seq    `json:"id"`
	Name      string `json:"event"`     // "<prefix>:<type>", with the kind's prefix.
	RequestID ID     `json:"requestId"` // The job that the event is about.
	// KindVersion is the version of the job's kind: hex SHA-256. Absent without a job.
	KindVersion string    `json:"kindVersion,omitempty"`
	UserID      string    `json:"userId"` // The owner of the job.
	Time        time.Time `json:"time"`   // The time at which it was stored, by the store's clock.
	// Data depends on the type, see the table of events in docs/api.md.
	Data json.RawMessage `json:"data"`
	// Simulated is true if a simulated Claude runs the job, so that its content is made up.
	Simulated bool `json:"simulated,omitempty"`
}

// Seq orders the events of a user. It is the time at which the event was stored, by the store's
// clock, in microseconds since 1970, or the last number plus one if the clock has not advanced. So
// no number is reused, even if the store has lost the latest events. It stays below 2^53 until the
// year 2255.
type Seq uint64

// ParseSeq parses an event id, as in "since".
func ParseSeq(s string) (Seq, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, Errorf(Invalid, "since %q is not an event id", s).
			WithHint("Pass the id of the last event you received, or 0 for everything that is kept.")
	}
	return Seq(n), nil
}

// String returns the id in its JSON form.
func (s Seq) String() string { return strconv.FormatUint(uint64(s), 10) }

// MarshalText implements encoding.TextMarshaler.
func (s Seq) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Seq) UnmarshalText(text []byte) error {
	n, err := ParseSeq(string(text))
	*s = n
	return err
}

// TextEvent is a piece of the text that Claude is writing, for clients that asked for it. It is not
// an event: it has no id and is not stored. The whole text follows in a message event.
type TextEvent struct {
	Name      string    `json:"event"`     // "<prefix>:text".
	RequestID ID        `json:"requestId"` // The job whose Claude writes.
	UserID    string    `json:"userId"`    // The owner of the job.
	Time      time.Time `json:"time"`      // The time at which it was sent.
	Data      TextPiece `json:"data"`
}

// TextPiece is the data of a TextEvent.
type TextPiece struct {
	Turn  int `json:"turn"`  // The number of the turn that writes.
	Block int `json:"block"` // The number of the text within the turn, from 1.
	// Piece is the number of the piece within the block, from 1. If one is missing, wait for the message, or
	// for a whole block.
	Piece int    `json:"piece"`
	Whole bool   `json:"whole,omitempty"` // True if the text is the whole block so far, which replaces earlier pieces.
	Text  string `json:"text"`            // The text written since the previous piece.
	// Thinking is true if the block is Claude's thinking, not part of its answer: no message follows.
	// It is sent only if the kind has thinking: true.
	Thinking  bool `json:"thinking,omitempty"`
	Simulated bool `json:"simulated,omitempty"` // True if a stand-in plays Claude.
}

// TextName is the name of a TextEvent without its prefix.
const TextName = "text"
