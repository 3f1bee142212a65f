package approval

import (
	"encoding/json"

	"ringback/internal/job"
)

// OfAction describes the run of an action with an input, decoded from JSON with
// json.Number.
func OfAction(name string, input map[string]any) (job.Operation, error) {
	op, err := withInput(input)
	op.Action = name
	return op, err
}

// OfTool describes a call of one of the CLI's tools, with an input decoded likewise.
func OfTool(name string, input map[string]any) (job.Operation, error) {
	op, err := withInput(input)
	op.Tool = name
	return op, err
}

func withInput(input map[string]any) (job.Operation, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return job.Operation{}, err
	}
	digest, err := digestOf(input)
	return job.Operation{Input: text, InputDigest: digest}, err
}

// Key is the key under which an approval of an operation is stored within its job: the
// approval permits operations with the same key, and nothing else. It is empty if the
// operation needs no permission.
func Key(op job.Operation) string {
	switch {
	case op.InputDigest == "":
		return ""
	case op.Tool != "":
		return "tool:" + op.Tool + ":" + op.InputDigest
	}
	return "action:" + op.Action + ":" + op.InputDigest
}
