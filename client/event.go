package client

import (
	"encoding/json"

	"ringback/internal/job"
)

// Resync is the name of the event that reports missing events: they are no longer kept, or the
// store has lost the latest ones. The client must reload what it displays.
const Resync = "resync"

// Event is an event as received.
type Event struct {
	job.Event
	// JSON is the frame as received.
	JSON json.RawMessage
}

// readEvent parses a frame. It returns false for a frame that is not an event, such as the response
// to a frame from the client.
func readEvent(frame []byte) (Event, bool) {
	e := Event{JSON: frame}
	err := json.Unmarshal(frame, &e.Event)
	return e, err == nil && e.Name != ""
}

// Type returns the event's name without its prefix. The prefix may contain colons.
func (e Event) Type() job.EventType {
	_, t := job.CutEvent(e.Name)
	return t
}
