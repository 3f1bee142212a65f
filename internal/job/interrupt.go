package job

import "time"

// Interrupt is a person's request to stop part of a running turn without ending the job.
type Interrupt struct {
	// Turn is the turn that was running.
	Turn int `json:"turn"`
	// Scope is the part to stop.
	Scope InterruptScope `json:"scope" jsonschema:"enum=command,enum=turn"`
	// Done is true once the commands have been stopped.
	Done bool `json:"done,omitempty"`
	// Time is when it was requested.
	Time time.Time `json:"time"`
}

// InterruptScope is the part of a turn that an interrupt stops.
type InterruptScope string

// The scopes.
const (
	InterruptCommand InterruptScope = "command" // the commands that Claude runs; the turn continues
	InterruptTurn    InterruptScope = "turn"    // the turn; the next one continues the conversation
)

// Interrupted returns the interrupt of the job's latest turn, or nil.
func (j Job) Interrupted() *Interrupt {
	if j.Interrupt == nil || j.Interrupt.Turn != j.Turn {
		return nil
	}
	return j.Interrupt
}
