// Package job is the domain: jobs, their states, checkpoints and events, and the errors that every
// interface reports. It imports no other package of Ringback except small helpers.
//
//	pending ──▶ running ──▶ received
//	   ▲           │  ▲
//	   │ (reply)   ▼  │
//	   └── awaiting_approval | awaiting_input
//	any non-terminal ──▶ cancelled | rejected | expired | failed
//
// An expired, failed or cancelled job goes back to pending when a person asks for a retry.
// Transitions lists every move, and Phases what happens within a state; docs/architecture.md draws
// both.
package job

//go:generate go test -vet=off . -run TestArchitectureDrawsTheStateMachine -update
