package document

import (
	"fmt"
	"strings"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
	"ringback/internal/web/hub"
)

// Version is the version of the contract: its major number rises with breaking changes.
const Version = "1.0.0"

// Contract is everything a server guarantees to its callers, whatever its kinds.
type Contract struct {
	Routes []contract.Route
	Events []lifecycle.EventRow
}

// Frame is a frame of a WebSocket that is not an event.
type Frame struct {
	// Name is its type in the protocol.
	Name string
	// Prefixed is true if the prefix of the job's kind and a colon precede the name.
	Prefixed bool
	// ByClient is true if the client sends it, not the server.
	ByClient bool
	Text     string
	// Type is a value of the frame's struct.
	Type any
}

// Close is a code with which the server closes a WebSocket.
type Close struct {
	Code int
	// When describes the cause, and Then what the client should do.
	When, Then string
}

type object = map[string]any

// IdempotencyKey is the header that is equivalent to idempotencyKey in a body.
const IdempotencyKey = "Idempotency-Key"

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
	"files/*":           {"path", "The file's path in the job's working directory. It may contain slashes, which are not escaped."},
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
			"name": described.name, "in": "path", "required": true, "description": described.text, "schema": contract.Text(),
		})
	}
	return strings.Join(parts, "/"), parameters, nil
}

// The types of frames that have no other Go type.
type (
	plainFrame struct {
		Type string `json:"type"`
	}
	choiceFrame struct {
		Type string `json:"type"`
		// RequestID is the job to subscribe to or unsubscribe from.
		RequestID job.ID `json:"requestId"`
		// Text is true to subscribe also to the text while Claude writes it, or to unsubscribe only from
		// the text.
		Text bool `json:"text,omitempty"`
	}
	resyncFrame struct {
		Event string `json:"event"`
	}
)

// replyFrame is the frame with which a client answers a question.
type replyFrame struct {
	Type string `json:"type"`
	// CheckpointID identifies the question.
	CheckpointID job.CheckpointID `json:"checkpointId"`
	checkpoint.Reply
}

// Frames describes the frames of a WebSocket other than events.
var Frames = []Frame{
	{Name: "ping", ByClient: true, Text: "Pings the server, which answers with `pong`.", Type: plainFrame{}},
	{
		Name: "subscribe", ByClient: true,
		Text: "Subscribes to the events of one job, with `text` also to the text that Claude is writing; answered by an `ack`.",
		Type: choiceFrame{},
	},
	{
		Name: "unsubscribe", ByClient: true,
		Text: "Ends the subscription, with `text` only that to the text; answered by an `ack`.", Type: choiceFrame{},
	},
	{Name: "pong", Text: "Answers a `ping`.", Type: plainFrame{}},
	{Name: "ack", Text: "A frame was accepted; after a reply, `checkpoint` is the question's new state.", Type: hub.FrameAnswer{}},
	{Name: "error", Text: "A frame was refused, with the reason.", Type: hub.FrameAnswer{}},
	{
		Name: "text", Prefixed: true, Text: "A piece of the text that Claude is writing, for subscribed clients.",
		Type: job.TextEvent{},
	},
	{Name: "resync", Text: "Events are missing before the next one: read again over HTTP what is shown.", Type: resyncFrame{}},
	{
		Name: "reply", ByClient: true,
		Text: "Answers a question, as `POST /api/checkpoints/:id/reply` does; answered by an `ack` or an `error`.",
		Type: replyFrame{},
	},
}

// Closes lists the close codes and how a client should react to each.
var Closes = []Close{
	{Code: int(hub.CloseRestart), When: "the server restarts", Then: "connect again with `since`"},
	{Code: int(hub.CloseSlow), When: "the client reads too slowly", Then: "connect again with `since`"},
	{Code: int(hub.CloseBadRequest), When: "the URL is wrong, such as a malformed `since`", Then: "correct it"},
	{
		Code: int(hub.CloseUnauthorized), When: "no valid key or token, or it has expired or was removed, also while connected",
		Then: "connect with a new one",
	},
	{
		Code: int(hub.CloseForbidden), When: "another user's `userId` or job, or the page's origin is not in `CORS_ORIGINS`",
		Then: "do not connect again",
	},
}
