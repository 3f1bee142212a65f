package contract

import (
	"fmt"
	"strings"
)

// Type is the JSON Schema of a parameter.
type Type map[string]any

// Text is the type of any text.
func Text() Type { return Type{"type": "string"} }

// Time is the type of a point in time.
func Time() Type { return Type{"type": "string", "format": "date-time"} }

// Number is the type of an integer within bounds.
func Number(least, most int) Type {
	return Type{"type": "integer", "minimum": least, "maximum": most}
}

// Pattern is the type of a text that matches a regular expression.
func Pattern(expression string) Type { return Type{"type": "string", "pattern": expression} }

// OneOf is the type of one of the given names.
func OneOf[T ~string](names []T) Type { return Type{"type": "string", "enum": names} }

// SomeOf is the type of any number of the given names: as parameters of the same name, or separated by commas.
func SomeOf[T ~string](names []T) Type { return Type{"type": "array", "items": OneOf(names)} }

// pathParameters are the parameters of paths, by the segment before them.
var pathParameters = map[string]struct{ name, text string }{
	"jobs/:id":          {"requestId", "The job's `requestId`."},
	"checkpoints/:id":   {"checkpointId", "The checkpoint's `id`."},
	"sessions/:id":      {"sessionId", "The chat's `sessionId`."},
	"runs/:id":          {"runId", "The run's `run_id`, which is its job's `requestId`."},
	"approvals/:id":     {"approvalId", "The approval's `id`."},
	"notifications/:id": {"notificationId", "The notification's `id`."},
	"kinds/:name":       {"kind", "The kind's name."},
	"actions/:name":     {"action", "The action's name."},
	"files/*":           {"path", "The file's path in the job's working directory. It may hold slashes, which are not escaped."},
}

// readPath converts a path to the syntax of OpenAPI, and returns its parameters. It returns
// an error for a parameter that is not described.
func readPath(path string) (string, []any, error) {
	parts := strings.Split(path, "/")
	var parameters []any
	for i, part := range parts {
		if !strings.HasPrefix(part, ":") && part != "*" {
			continue
		}
		described, ok := pathParameters[parts[i-1]+"/"+part]
		if !ok {
			return "", nil, fmt.Errorf("the parameter %s of %s is not described", part, path)
		}
		parts[i] = "{" + described.name + "}"
		parameters = append(parameters, map[string]any{
			"name": described.name, "in": "path", "required": true, "description": described.text, "schema": Text(),
		})
	}
	return strings.Join(parts, "/"), parameters, nil
}
