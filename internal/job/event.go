package job

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// EventType is the last part of an event's name, after the kind's prefix.
type EventType string

// What can happen to a job (see Event).
const (
	EventPending  EventType = "pending"
	EventRunning  EventType = "running"
	EventActivity EventType = "activity"
	EventPartial  EventType = "partial"
	EventMessage  EventType = "message"
	// EventHeard tells that Claude has read a message.
	EventHeard EventType = "message:heard"
	// EventCheckpoint and EventResolved tell of a checkpoint that was put to a person,
	// and of one that no longer waits.
	EventCheckpoint EventType = "checkpoint"
	EventResolved   EventType = "checkpoint:resolved"
	EventReceived   EventType = "received"
	EventError      EventType = "error"
	EventCancelled  EventType = "cancelled"
	EventRejected   EventType = "rejected"
)

// CutEvent divides an event's name into the kind's prefix, which may hold colons, and its type.
func CutEvent(name string) (prefix string, t EventType) {
	for _, t := range []EventType{EventResolved, EventHeard} { // these hold a colon, too
		if prefix, ok := strings.CutSuffix(name, ":"+string(t)); ok {
			return prefix, t
		}
	}
	i := strings.LastIndexByte(name, ':')
	return name[:max(i, 0)], EventType(name[i+1:])
}

// EventTimeLayout is how times are written in events: RFC 3339 with milliseconds, in UTC.
const EventTimeLayout = "2006-01-02T15:04:05.000Z"

// Event is something that happened to a job, as WebSocket clients receive it.
type Event struct {
	// ID orders the events of one user: digits, always 16 of them, each event's greater
	// than the last. "since" takes it to resume.
	ID Seq `json:"id"`
	// Name is "<prefix>:<type>", the prefix being the kind's.
	Name string `json:"event"`
	// RequestID is the job it happened to.
	RequestID ID `json:"requestId"`
	// KindVersion is the version of the job's kind, see Job; empty without a job.
	KindVersion string `json:"kindVersion,omitempty"`
	// UserID is whose job it is.
	UserID string `json:"userId"`
	// Time is when it was stored, by the store's clock.
	Time time.Time `json:"time"`
	// Data depends on what happened, see the table of events in docs/api.md.
	Data json.RawMessage `json:"data"`
	// Simulated is whether its job is, see Job.
	Simulated bool `json:"simulated,omitempty"`
}

// Seq is an event's place among the events of its user: when it was stored, by the store's
// clock, in microseconds since 1970, or what comes after the last where the clock has not
// gone on. So no number is given twice, also where the store has lost the latest events.
// It stays below 2^53 until the year 2255.
type Seq uint64

// ParseSeq reads an event id, as in "since".
func ParseSeq(s string) (Seq, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, Errorf(Invalid, "since %q is not an event id", s).
			WithHint("Pass the id of the last event you received, or 0 for everything that is kept.")
	}
	return Seq(n), nil
}

// String returns the id as it stands on the wire.
func (s Seq) String() string { return strconv.FormatUint(uint64(s), 10) }

// MarshalText implements encoding.TextMarshaler.
func (s Seq) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Seq) UnmarshalText(text []byte) error {
	n, err := ParseSeq(string(text))
	*s = n
	return err
}
