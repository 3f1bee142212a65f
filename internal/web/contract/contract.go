package contract

import (
	"encoding/json"

	"ringback/internal/job"
)

// Kind is a kind of job as callers see it.
type Kind struct {
	Name, Description string
	// Events is the prefix of the names of its events.
	Events        string
	Input, Result json.RawMessage
	Actions       []Action
}

// Action is an action that the jobs of a kind may call.
type Action struct {
	Name  string
	Input json.RawMessage
}

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
	{Jobs, "The jobs of back ends, and their results."},
	{People, "Questions to people, their replies, and chats."},
	{Server, "The kinds of jobs, and the state of the server."},
	{Callbacks, "The calls of Claude, with the signature of its turn."},
}

// Route describes one endpoint, for the router and for callers.
type Route struct {
	Method string
	// Path names parameters in echo's syntax: /api/jobs/:id.
	Path string
	// Name is the unique name of the operation in programs.
	Name string
	Tag  Tag
	// Summary describes it in Markdown. Its first sentence must make sense on its own.
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
	// Type is a value of the struct that is parsed; nil for the envelope of a callback.
	Type any
	// Schema is the JSON Schema of additional fields that are not part of a struct.
	Schema json.RawMessage
	// WithInput is true if the fields of the input of SuggestionsKind are also in the body.
	WithInput bool
	// Unsigned is true if the signature of a callback is optional.
	Unsigned bool
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
	Location = Header{"Location", "The path of the created resource on this server."}
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

// Fields represents a record of which any fields may be left out.
type Fields[T any] struct{}

// Of returns the record.
func (Fields[T]) Of() any { return *new(T) }
