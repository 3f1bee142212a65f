package callback

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

type tool struct {
	sdk.Tool
	endpoint endpoint
	// action is the action that is called; empty for other callbacks.
	action string
}

// toolsOf returns the tools of a kind: one for each of kind.CallbackTools. The prompt
// explains how they work together.
func toolsOf(k *kind.Kind) []tool {
	result := "/api/claude/result"
	if k.Batchable() {
		result = "/api/claude/suggestions"
	}
	tools := []tool{
		newTool(
			kind.ReportProgress, "Reports in one short sentence what you are doing.", "/api/claude/progress",
			json.RawMessage(progressSchema),
		),
		newTool(
			kind.SubmitResult, "Submits the whole result of your task. Once it is accepted, the task is complete.", result,
			asObject(k.Result.ForClaude()),
		),
		newTool(
			kind.ReportFailure, "Reports that you cannot do your task, and why. Nothing can be submitted after it.",
			"/api/claude/failure", json.RawMessage(failureSchema),
		),
		newTool(
			kind.AskUser, "Asks the user, and waits a while for the answer.", "/api/claude/checkpoints",
			json.RawMessage(checkpointSchema),
		),
	}
	if k.Batchable() {
		tools = append(tools, newTool(
			kind.SubmitBatch, "Submits a part of a large result. The suggestions are those of "+kind.SubmitResult+".",
			"/api/claude/suggestions/batch", json.RawMessage(batchSchema)))
	}
	for _, a := range k.Policy.Actions {
		t := newTool(a.Name, a.Description, "/api/claude/actions/:name", actionArguments(a.Schema().ForClaude()))
		t.action = a.Name
		tools = append(tools, t)
	}
	return tools
}

func newTool(name, description, path string, input any) tool {
	at := slices.IndexFunc(endpoints, func(ep endpoint) bool { return ep.Path == path })
	return tool{Tool: sdk.Tool{Name: name, Description: description, InputSchema: input}, endpoint: endpoints[at]}
}

// asObject returns a schema with the type "object", which a tool's schema requires.
func asObject(schema json.RawMessage) map[string]json.RawMessage {
	top := maps.Collect(job.Members(schema))
	top["type"] = json.RawMessage(`"object"`)
	return top
}

// actionArguments returns the schema of an action's arguments, which contains that of its
// input.
func actionArguments(input json.RawMessage) map[string]json.RawMessage {
	arguments := asObject(json.RawMessage(actionSchema))
	// The input's references lead to its new position. One to an anchor holds anywhere in the document.
	moved := json.RawMessage(strings.NewReplacer(
		`"$ref":"#/`, `"$ref":"#/properties/input/`, `"$ref":"#"`, `"$ref":"#/properties/input"`,
	).Replace(string(input)))
	arguments["properties"] = withFields(arguments["properties"], map[string]json.RawMessage{"input": moved})
	return arguments
}
