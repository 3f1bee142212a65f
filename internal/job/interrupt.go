package job

import "time"

// Interrupt is a person's request to stop what a running turn does, and to keep the job.
type Interrupt struct {
	// Turn is the turn that was running.
	Turn int `json:"turn"`
	// Scope is what is stopped.
	Scope InterruptScope `json:"scope" jsonschema:"enum=command,enum=turn"`
	// Done is true once the commands have been stopped.
	Done bool `json:"done,omitempty"`
	// Time is when it was requested.
	Time time.Time `json:"time"`
}

// InterruptScope says what an interrupt stops.
type InterruptScope string

// The scopes.
const (
	InterruptCommand InterruptScope = "command" // the commands that Claude runs; the turn goes on
	InterruptTurn    InterruptScope = "turn"    // the turn; the next one goes on in the same conversation
)

// Interrupted returns the interrupt of the job's latest turn; nil for none.
func (j Job) Interrupted() *Interrupt {
	if j.Interrupt == nil || j.Interrupt.Turn != j.Turn {
		return nil
	}
	return j.Interrupt
}
