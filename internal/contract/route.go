package contract

import (
	"encoding/json"

	"ringback/internal/job"
)

// Access determines which callers may use a route.
type Access string

// The kinds of access.
const (
	// Anyone needs no credentials.
	Anyone Access = "anyone"
	// Caller requires the key of a back end or a user's token.
	Caller Access = "caller"
	// BackEnd requires the key of a back end.
	BackEnd Access = "back end"
	// Claude requires a signature with the secret of its turn.
	Claude Access = "claude"
	// Slack requires a signature with Slack's signing secret.
	Slack Access = "slack"
)

// Tag is the section that a route belongs to.
type Tag string

// The sections, in the order of docs/api.md.
const (
	Jobs      Tag = "Jobs"
	People    Tag = "People"
	Server    Tag = "Kinds and the server itself"
	Callbacks Tag = "Callbacks"
)

// Tags lists the sections.
var Tags = [...]struct {
	Name Tag
	Text string
}{
	{Jobs, "What back ends ask for, and what became of it."},
	{People, "Questions to people, their replies, and chats."},
	{Server, "What can be asked for, and how the server is."},
	{Callbacks, "What Claude calls, with the signature of its turn."},
}

// Route describes one endpoint, for the router and for callers.
type Route struct {
	Method string
	// Path names parameters in echo's syntax: /api/jobs/:id.
	Path string
	// Name is the unique name of the operation in programs.
	Name string
	Tag  Tag
	// Summary describes it in Markdown.
	Summary string
	Access  Access
	// Signed is true if the signature of an inbound webhook is accepted, too.
	Signed bool
	// Act names what only back ends may do here, as the beginning of an error message; set
	// if Access is BackEnd.
	Act   string
	Query []Parameter
	// Idempotent is true if it accepts the header Idempotency-Key.
	Idempotent bool
	Body       *Body
	Answers    []Answer
	// Errors are its errors in addition to those that follow from the other fields, see
	// errorsOf.
	Errors []job.ErrorKind
}

// Parameter is a query parameter.
type Parameter struct {
	Name string
	// Text describes it in Markdown.
	Text string
	Type Type
}

// Body describes a request body: one JSON object, unless Media is set. Its fields are those
// of Type, and those of one of the other settings.
type Body struct {
	// Type is a value of the struct that is parsed.
	Type any
	// Schema is the JSON Schema of additional fields that are not part of a struct.
	Schema json.RawMessage
	// InputOf is a kind; the fields of its input are also in the body.
	InputOf string
	// Open is true if further fields depend on the job's kind.
	Open bool
	// ByKind is true if the field input is the input of the kind in the field kind.
	ByKind bool
	// Optional is true if the body may be omitted.
	Optional bool
	Media    string
}

// Answer describes a successful response.
type Answer struct {
	Status int
	Text   string
	// Type is a value of the type that is written as JSON; nil for another media type or no
	// body.
	Type any
	// OneOf are values of several types, one of which is written.
	OneOf []any
	Media string
	// Lines is a value of the type of each line of application/x-ndjson.
	Lines   any
	Headers []Header
}

// Header is a header of a response.
type Header struct{ Name, Text string }

// Headers of several responses.
var (
	Location = Header{"Location", "Where what was asked for can be watched: a path on this server."}
)

// IdempotencyKey is the header that is equivalent to idempotencyKey in a body.
const IdempotencyKey = "Idempotency-Key"
