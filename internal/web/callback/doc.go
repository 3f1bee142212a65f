// Package callback serves Claude's callbacks: progress, batches, the result, a failure,
// a question to a person, an action, and the CLI's hook for each tool call. docs/api.md
// lists the endpoints.
//
// A callback passes these steps in this order. Each refusal describes how to repair the
// call:
//
//	the body is a JSON object of at most 1 MiB      400, 413, 415
//	the envelope, requestId and hmac                400
//	the request is known, and may still be called   404
//	callbacks do not come too fast                  429
//	the signature is that of the request            403
//	the payload fits its schema                     400
//	the store accepts it                            404, 409
//
// The first steps read a cache of data that does not change during a turn, so a valid
// callback costs one round trip to Redis. Before a call is refused because of the
// cache, the store is queried. A success is answered only after its effect is stored,
// and a repeated callback gets the same answer: Claude may resend any callback without
// an answer.
//
// Over MCP (mcp.go), the same callbacks are tools: the envelope is in headers, the
// payload is the tool's arguments, and a mistake in it is reported as the tool's
// result.
//
// To add a callback: a handler func(*call) (json.RawMessage, error) in its own file, an entry in
// endpoints, its payload's schema next to the handler and in New, the file
// that Claude posts in package claude, and its tool over MCP in toolsOf.
package callback
