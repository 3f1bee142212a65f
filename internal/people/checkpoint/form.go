package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/schema"
)

type form struct {
	checkpoint job.Checkpoint
	props      job.Props
	// values is the schema of the values that a person gives; nil if there is none.
	values *schema.Schema
}

func parse(c job.Checkpoint) (form, []job.Detail) {
	f := form{checkpoint: c}
	if err := job.UnmarshalExact(c.Props, &f.props); err != nil && len(c.Props) > 0 { // a type may still need props
		return f, []job.Detail{{Path: "/props", Message: wrongProps(err)}}
	}
	var details []job.Detail
	wrong := func(name, message string) {
		details = append(details, job.Detail{Path: "/props/" + name, Message: message})
	}
	for i, v := range f.props.ValidValues {
		switch v.(type) {
		case string, json.Number:
		default:
			wrong("valid_values/"+strconv.Itoa(i), "expected a string or a number")
		}
	}
	if len(f.props.Schema) > 0 {
		values, faults := parseValues(f.props.Schema)
		f.values, details = values, append(details, faults...)
	}
	if c.Type == job.FormRequirements && len(f.props.Schema) == 0 {
		wrong("schema", "is required but missing; expected a JSON Schema of a flat object, which becomes the form")
	}
	if c.Type == job.ErrorRecovery && f.props.ErrorField == "" {
		wrong("error_field", "is required but missing; expected the name of the value that is wrong")
	}
	return f, details
}

var (
	valueTypes   = []string{"string", "number", "integer", "boolean"}
	valueFormats = []string{"", "email", "uri", "date", "date-time"}
)

// parseValues parses the schema of values that a person gives: a flat object of strings,
// numbers and booleans, the subset that MCP elicitation uses.
func parseValues(source json.RawMessage) (*schema.Schema, []job.Detail) {
	values, err := schema.New("schema", source)
	if err != nil {
		return nil, []job.Detail{{Path: "/props/schema", Message: err.Error()}}
	}
	var details []job.Detail
	wrong := func(at, message string) {
		details = append(details, job.Detail{Path: "/props/schema" + at, Message: message})
	}
	if values.Root().Get("type").Text() != "object" || len(values.Fields()) == 0 {
		wrong("", `expected "type": "object" with at least one of "properties"`)
	}
	for _, f := range values.Fields() {
		if !slices.Contains(valueTypes, f.Type) {
			wrong("/properties/"+f.Name+"/type", fmt.Sprintf("found %q; allowed: string, number, integer, boolean", f.Type))
		}
		if !slices.Contains(valueFormats, f.Format) {
			wrong("/properties/"+f.Name+"/format", fmt.Sprintf("found %q; allowed: email, uri, date, date-time", f.Format))
		}
	}
	if details != nil {
		return nil, details
	}
	return values, nil
}

func wrongProps(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s: found %s; expected %s", e.Field, e.Value, e.Type)
	}
	return "expected an object of the known props"
}

// field returns the name of the single requested value; empty if there are several.
func (f form) field() string {
	if f.values == nil {
		return cmp.Or(f.props.ErrorField, "value")
	}
	if fields := f.values.Fields(); len(fields) == 1 {
		return fields[0].Name
	}
	return f.props.ErrorField
}

// fields returns the requested values; none if any words are an answer.
func (f form) fields() (fields []intent.Field) {
	switch {
	case len(f.props.ValidValues) > 0:
		return []intent.Field{{Name: f.field(), Enum: f.props.ValidValues, Required: true}}
	case f.values == nil && f.checkpoint.Type == job.ErrorRecovery:
		return []intent.Field{{Name: f.field(), Type: typeOf(f.props.CurrentValue), Required: true}}
	}
	for _, v := range f.values.Fields() {
		fields = append(fields, intent.Field{Name: v.Name, Type: v.Type, Enum: v.Enum, Required: v.Required})
	}
	return fields
}

func typeOf(refused json.RawMessage) string {
	var value any
	if job.UnmarshalExact(refused, &value) == nil {
		switch value.(type) {
		case json.Number:
			return "number"
		case bool:
			return "boolean"
		}
	}
	return "string"
}

func (f form) context() intent.Context {
	yes, no := f.props.Answers()
	return intent.Context{
		Type: f.checkpoint.Type, Message: f.original(), Orders: f.orders(), NoChange: !f.props.TakesChange(),
		Offered: f.props.OfferedChange, Fields: f.fields(), Known: f.props.CurrentValues,
		Labels: f.props.OptionLabels, YesPhrases: yes.Texts(), NoPhrases: no.Texts(),
	}
}

// orders returns the texts of the kind's author that begin with what a yes does.
func (f form) orders() (texts []string) {
	if yes, _ := f.props.Answers(); yes != nil {
		texts = append(texts, yes.Label)
	}
	if asked := f.props.Asked; asked != nil && len(asked.Segments) > 0 && asked.Segments[0].From == job.FromKind {
		texts = append(texts, asked.Segments[0].Text)
	}
	return texts
}

func (f form) original() string {
	return cmp.Or(f.props.OriginalQuestion, f.checkpoint.Message)
}

// problems validates values. at is the prefix of their paths.
func (f form) problems(values map[string]any, at string) []job.Detail {
	if f.values != nil {
		return job.Under(at, f.values.Validate(values))
	}
	name := f.field()
	v := values[name]
	switch {
	case len(f.fields()) == 0 && len(values) == 0:
		return []job.Detail{{Path: at, Message: "is empty; expected the answer"}}
	case len(f.fields()) == 0, v != nil && len(f.props.ValidValues) == 0:
		return nil
	case len(f.props.ValidValues) == 0:
		return []job.Detail{{Path: at + "/" + name, Message: "is required but missing"}}
	case v == nil:
		return []job.Detail{{Path: at + "/" + name, Message: "is required but missing; allowed: " + list(f.props.ValidValues)}}
	}
	if !slices.ContainsFunc(f.props.ValidValues, func(valid any) bool { return fmt.Sprint(valid) == fmt.Sprint(v) }) {
		return []job.Detail{{
			Path: at + "/" + name, Message: fmt.Sprintf("found %q; allowed: %s", fmt.Sprint(v), list(f.props.ValidValues)),
		}}
	}
	return nil
}

func list[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// complete adds known data to the message and props of a question: the options it does not name,
// and suggested replies.
func (f form) complete(runID string) (message string, props json.RawMessage) {
	c := f.checkpoint
	all := maps.Collect(job.Members(c.Props))
	for _, name := range [...]string{"original_question", "offered_change", "preview", "asked"} {
		delete(all, name) // only Ringback sets these, not the asker
	}
	known := f.props
	known.CheckpointType, known.AwaitingResponse, known.RunID = c.Type, true, runID
	if known.RunID == "" {
		known.RunID = f.props.RunID
	}
	if len(known.SuggestedReplies) == 0 {
		known.SuggestedReplies = intent.Suggest(f.context())
	}
	maps.Insert(all, job.Members(job.MustJSON(known)))
	return f.withOptions(c.Message), job.MustJSON(all)
}

// withOptions adds the options to a message that does not name all of them, because some people
// see only the text.
func (f form) withOptions(message string) string {
	for _, v := range f.props.ValidValues {
		if !strings.Contains(message, fmt.Sprint(v)) {
			return strings.TrimSpace(message) + " Available options are: " + list(f.props.ValidValues) + "."
		}
	}
	return message
}
