package job

import (
	"encoding/json"
	"time"
)

// CheckpointType is the sort of question a job parks at.
type CheckpointType string

// The checkpoint types.
const (
	Review             CheckpointType = "review"
	Confirmation       CheckpointType = "confirmation"
	ToolApproval       CheckpointType = "tool_approval"
	ErrorRecovery      CheckpointType = "error_recovery"
	InformationRequest CheckpointType = "information_request"
	FormRequirements   CheckpointType = "form_requirements"
)

// State returns the state of a job parked at a checkpoint of this type.
func (t CheckpointType) State() State {
	switch t {
	case Review, Confirmation, ToolApproval:
		return AwaitingApproval
	case ErrorRecovery, InformationRequest, FormRequirements:
		return AwaitingInput
	}
	return AwaitingInput
}

// Checkpoint is a question to a person.
type Checkpoint struct {
	ID        string          `json:"id"`
	Type      CheckpointType  `json:"type"`
	Message   string          `json:"message"`
	Props     json.RawMessage `json:"props,omitempty"`
	CreatedAt time.Time       `json:"createdAt"`
}
