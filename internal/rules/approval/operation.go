package approval

import (
	"slices"
	"strings"

	"ringback/internal/job"
)

// OfAction describes the run of an action with an input, decoded from JSON with
// json.Number.
func OfAction(name string, input map[string]any) (job.Operation, error) {
	op, err := withInput(input)
	op.Action = name
	return op, err
}

// OfTool describes a call of one of the CLI's tools, with an input decoded likewise. dir is the
// directory in which it is called, see job.Operation.
func OfTool(name string, input map[string]any, dir string) (job.Operation, error) {
	op, err := withInput(input)
	op.Tool = name
	if dependsOnDir(name, input) {
		op.Dir = dir
	}
	return op, err
}

// elsewhere are tools of the CLI whose calls do the same in every directory.
var elsewhere = []string{"WebFetch", "WebSearch", "Task", "Agent", "TodoWrite", "AskUserQuestion", "ExitPlanMode"}

func dependsOnDir(tool string, input map[string]any) bool {
	if !isFileTool(tool) {
		return !strings.HasPrefix(tool, "mcp__") && !slices.Contains(elsewhere, tool)
	}
	paths := pathsIn(input)
	return len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool { return !strings.HasPrefix(path, "/") })
}

func withInput(input map[string]any) (job.Operation, error) {
	digest, err := digestOf(input)
	return job.Operation{Input: job.MustJSON(input), InputDigest: digest}, err
}

// InputOf returns the input of an operation, decoded with json.Number. What runs is the input of the
// operation that was approved: one with the same key may have other notations of its numbers.
func InputOf(op job.Operation) (input map[string]any, err error) {
	err = job.UnmarshalExact(op.Input, &input)
	return input, err
}

// Key is the key under which an approval of an operation is stored within its job: the
// approval permits operations with the same key, and nothing else. It is empty if the
// operation needs no permission.
func Key(op job.Operation) string {
	switch {
	case op.InputDigest == "":
		return ""
	case op.Dir != "":
		return "tool:" + op.Tool + ":" + op.InputDigest + ":" + job.Digest([]byte(op.Dir))
	case op.Tool != "":
		return "tool:" + op.Tool + ":" + op.InputDigest
	}
	return "action:" + op.Action + ":" + op.InputDigest
}
