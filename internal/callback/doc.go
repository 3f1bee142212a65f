// Package callback serves what Claude calls: progress, batches, the result, that it
// cannot do the job, a question to a person, an action, and the CLI's hook that asks
// about each call of a tool. docs/api.md lists the endpoints.
//
// A callback passes through the same steps, in this order, and each says how to
// repair what it refuses:
//
//	the body is a JSON object of at most 1 MiB      400, 413, 415
//	the envelope, requestId and hmac                400
//	the request is known, and may still be called   404
//	callbacks do not come too fast                  429
//	the signature is that of the request            403
//	the payload fits its schema                     400
//	the store takes it                              404, 409
//
// The first steps read a cache of what never changes while a turn lasts, so a good
// callback costs one round trip to Redis. Before anything is refused because of what
// the cache holds, the store is asked. Success is answered only after its effect is
// stored, and the same callback twice is answered the same twice: Claude may send
// again whatever it has heard no answer to.
//
// Over MCP (mcp.go), the same callbacks are tools: the envelope stands in headers, the
// payload is the tool's arguments, and what is wrong with it is the tool's result.
//
// To add a callback: a handler func(*call) (any, error) in a file of its own, an
// entry in endpoints, its payload's schema beside it and in compileSchemas, the file
// that Claude posts in package claude, and the tool that it is over MCP in toolsOf.
package callback
