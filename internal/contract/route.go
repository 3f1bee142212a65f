package contract

import (
	"encoding/json"

	"ringback/internal/job"
)

// Access says who may call a route.
type Access string

// Who may call.
const (
	// Anyone needs no credentials.
	Anyone Access = "anyone"
	// Caller is a back end with its key, or a person with their token.
	Caller Access = "caller"
	// BackEnd is a back end with its key.
	BackEnd Access = "back end"
	// Claude signs with the secret of its turn.
	Claude Access = "claude"
	// Slack signs with its own secret.
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

// Route is one endpoint: what the router needs to know of it, and what its callers do.
type Route struct {
	Method string
	// Path names parameters as echo does: /api/jobs/:id.
	Path string
	// Name is how programs call it; no two have the same.
	Name string
	Tag  Tag
	// Summary says in Markdown what it does.
	Summary string
	Access  Access
	// Act is what only back ends may do here, as a refusal begins its sentence; set where
	// Access is BackEnd.
	Act string
	// Query are the parameters that it reads.
	Query []Parameter
	// Idempotent is whether it takes the header Idempotency-Key.
	Idempotent bool
	Body       *Body
	Answers    []Answer
	// Errors are those beside the ones that follow from all else, see errorsOf.
	Errors []job.ErrorKind
}

// Parameter is one that a query may have.
type Parameter struct {
	Name string
	// Text says in Markdown what it is.
	Text string
	// Type is what it may be.
	Type Type
}

// Body is what a request holds: one JSON object, unless Media says otherwise. Its fields
// are those of Type, and of one of the rest.
type Body struct {
	// Type is a value of the struct that is read.
	Type any
	// Schema is the JSON Schema of what stands beside its fields, where that is no struct.
	Schema json.RawMessage
	// InputOf is the kind whose input stands beside its fields.
	InputOf string
	// Open is whether what else may stand there is for the job's kind to say.
	Open bool
	// ByKind is whether the field input is that of the kind that the field kind names.
	ByKind bool
	// Optional is whether a request may be without.
	Optional bool
	Media    string
}

// Answer is one that is no error.
type Answer struct {
	Status int
	// Text says what it means.
	Text string
	// Type is a value of what is written as JSON; nil for another media type or none.
	Type any
	// OneOf are several of which one is written.
	OneOf []any
	Media string
	// Lines is a value of what each line of an application/x-ndjson is.
	Lines any
	// Headers are those that it has.
	Headers []Header
}

// Header is one of an answer.
type Header struct{ Name, Text string }

// Headers of several answers.
var (
	Location = Header{"Location", "Where what was asked for can be watched: a path on this server."}
)

// IdempotencyKey is the header that does what idempotencyKey in a body does.
const IdempotencyKey = "Idempotency-Key"
