package approval

import (
	"encoding/json"

	"github.com/gowebpki/jcs"

	"ringback/internal/job"
)

// OfAction describes the run of an action with an input.
func OfAction(name string, input map[string]any) (job.Operation, error) {
	op, err := of(input)
	op.Action = name
	return op, err
}

// OfTool describes the call of one of the CLI's tools with an input.
func OfTool(name string, input map[string]any) (job.Operation, error) {
	op, err := of(input)
	op.Tool = name
	return op, err
}

// of describes an input by its canonical form, which has one order of keys and one
// way to write a number (RFC 8785).
func of(input map[string]any) (job.Operation, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return job.Operation{}, err
	}
	canonical, err := jcs.Transform(text)
	if err != nil {
		return job.Operation{}, err
	}
	return job.Operation{Input: text, InputDigest: job.Digest(canonical)}, nil
}

// Key is what a yes to an operation is recorded under, within its job: what has the
// same key is permitted by it.
func Key(op job.Operation) string {
	if op.Tool != "" {
		return "tool:" + op.Tool + ":" + op.InputDigest
	}
	return "action:" + op.Action + ":" + op.InputDigest
}
