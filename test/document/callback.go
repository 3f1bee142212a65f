package document

import (
	"slices"

	"ringback/internal/job"
	"ringback/internal/turn/claude"
	"ringback/internal/web/contract"
)

// envelope contains the fields that each callback has in addition to its payload.
type envelope struct {
	// RequestID is the job's id.
	RequestID job.ID `json:"requestId"`
	// HMAC is the hex HMAC-SHA256 of the requestId under the secret of the turn, which
	// Claude finds in its prompt.
	HMAC job.Signature `json:"hmac"`
}

// openEnvelope is the envelope of progress, in which the signature is optional.
type openEnvelope struct {
	// RequestID is the job's id.
	RequestID job.ID `json:"requestId"`
	// HMAC is the hex HMAC-SHA256 of the requestId under the secret of the turn. It is
	// optional here if CALLBACK_STRICT is false, as on a server without keys or sandbox.
	HMAC job.Signature `json:"hmac,omitempty"`
}

// rpcRequest is a request of JSON-RPC, as in MCP.
type rpcRequest struct {
	// Version is always "2.0".
	Version string `json:"jsonrpc"`
	// ID is a number or a string; notifications have none.
	ID any `json:"id,omitempty"`
	// Method is one of server/discover, initialize, tools/list, tools/call.
	Method string `json:"method"`
	// Params are the parameters of the method.
	Params map[string]any `json:"params,omitempty"`
}

// rpcResponse is the response to an rpcRequest.
type rpcResponse struct {
	// Version is always "2.0".
	Version string `json:"jsonrpc"`
	// ID is the ID of the request.
	ID any `json:"id"`
	// Result is the result of the method. The result of a tool is in content, as text that
	// contains the callback's JSON answer; isError is set if it is a refusal.
	Result map[string]any `json:"result,omitempty"`
	// Error is the error in the protocol's terms, if there is no result.
	Error map[string]any `json:"error,omitempty"`
}

// completed returns the route of a callback with the types of its envelope.
func completed(r contract.Route) contract.Route {
	if r.Access != contract.Claude {
		return r
	}
	body := *r.Body
	switch {
	case r.Path == claude.MCPPath:
		body.Type = rpcRequest{}
		r.Answers = slices.Clone(r.Answers)
		r.Answers[0].Type = rpcResponse{}
	case body.Unsigned:
		body.Type = openEnvelope{}
	case body.Type == nil:
		body.Type = envelope{}
	}
	r.Body = &body
	return r
}
