package client

import (
	"encoding/json"

	"ringback/internal/job"
)

// Resync is the name of the event that says that some are missing: they are no longer
// kept, or the store has lost what was heard last. What is shown is to be read anew.
const Resync = "resync"

// Event is an event as it arrived.
type Event struct {
	job.Event
	// JSON is the frame as it came, for programs.
	JSON json.RawMessage
}

// readEvent reads a frame; false when it holds something other than an event,
// such as the answer to a frame of ours.
func readEvent(frame []byte) (Event, bool) {
	e := Event{JSON: frame}
	err := json.Unmarshal(frame, &e.Event)
	return e, err == nil && e.Name != ""
}

// Type is the event's name without its prefix, which may hold colons too.
func (e Event) Type() job.EventType {
	_, t := job.CutEvent(e.Name)
	return t
}
