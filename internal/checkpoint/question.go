package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/job"
)

// question is a checkpoint as its reply is read against.
type question struct {
	checkpoint job.Checkpoint
	props      job.Props
	// form is the schema of the values; nil when none is given.
	form *form
}

// parse reads the props of a checkpoint.
func parse(c job.Checkpoint) (question, []job.Detail) {
	q := question{checkpoint: c}
	dec := json.NewDecoder(bytes.NewReader(c.Props))
	dec.UseNumber()
	if err := dec.Decode(&q.props); err != nil && len(c.Props) > 0 { // a type may need props all the same
		return q, []job.Detail{{Path: "/props", Message: wrongProps(err)}}
	}
	var details []job.Detail
	for i, v := range q.props.ValidValues {
		switch v.(type) {
		case string, json.Number:
		default:
			details = append(details, job.Detail{Path: fmt.Sprintf("/props/valid_values/%d", i), Message: "expected a string or a number"})
		}
	}
	if len(q.props.Schema) > 0 {
		form, faults := parseForm(q.props.Schema)
		q.form, details = form, append(details, faults...)
	}
	if c.Type == job.FormRequirements && len(q.props.Schema) == 0 {
		details = append(details, job.Detail{Path: "/props/schema", Message: "is required but missing; expected a JSON Schema of a flat object, which becomes the form"})
	}
	if c.Type == job.ErrorRecovery && q.props.ErrorField == "" {
		details = append(details, job.Detail{Path: "/props/error_field", Message: "is required but missing; expected the name of the value that is wrong"})
	}
	return q, details
}

func wrongProps(err error) string {
	if e, ok := asTypeError(err); ok {
		return fmt.Sprintf("%s: found %s; expected %s", e.Field, e.Value, e.Type)
	}
	return "expected an object of the known props"
}

// field is the single value that is asked for; empty when there are several, or
// none is named.
func (q question) field() string {
	if q.form != nil && len(q.form.order) == 1 {
		return q.form.order[0]
	}
	return q.props.ErrorField
}

// words are what package reply reads a text against.
func (q question) words() intent.Question {
	r := intent.Question{
		Type: q.checkpoint.Type, Message: q.original(), Offered: q.props.OfferedChange, Field: q.field(), CurrentValue: q.props.CurrentValue,
		ValidValues: q.props.ValidValues, Known: q.props.CurrentValues,
	}
	if q.form != nil {
		r.Fields = q.form.fields()
	}
	r.YesPhrases, r.NoPhrases = phrases(q.props.Yes), phrases(q.props.No)
	return r
}

// original is the question as it was first put.
func (q question) original() string {
	return cmp.Or(q.props.OriginalQuestion, q.checkpoint.Message)
}

// phrases are the ways to give an answer.
func phrases(a *job.AnswerProps) []string {
	if a == nil {
		return nil
	}
	return append([]string{a.Label, a.Message}, a.Also...)
}

// problems checks values that were given outright. at stands before their paths.
func (q question) problems(values map[string]any, at string) []job.Detail {
	if q.form != nil {
		return prefixed(at, q.form.schema.Validate(values))
	}
	if len(q.props.ValidValues) == 0 {
		return nil
	}
	name := q.field()
	v, given := values[name]
	if !given {
		return []job.Detail{{Path: at + "/" + name, Message: "is required but missing; allowed: " + list(q.props.ValidValues)}}
	}
	if !slices.ContainsFunc(q.props.ValidValues, func(valid any) bool { return fmt.Sprint(valid) == fmt.Sprint(v) }) {
		return []job.Detail{{Path: at + "/" + name, Message: fmt.Sprintf("found %q; allowed: %s", fmt.Sprint(v), list(q.props.ValidValues))}}
	}
	return nil
}

func prefixed(at string, details []job.Detail) []job.Detail {
	for i := range details {
		details[i].Path = at + details[i].Path
	}
	return details
}

func list[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// complete adds what is known to the message and props of a question: the
// options it does not name, and replies to suggest.
func (q question) complete(runID string) (message string, props json.RawMessage, err error) {
	c := q.checkpoint
	all := map[string]json.RawMessage{}
	if len(c.Props) > 0 {
		if err := json.Unmarshal(c.Props, &all); err != nil {
			return "", nil, err
		}
	}
	delete(all, "original_question") // these are ours: no asker gives them
	delete(all, "offered_change")
	known := q.props
	known.CheckpointType, known.AwaitingResponse, known.RunID = c.Type, true, runID
	if known.RunID == "" {
		known.RunID = q.props.RunID
	}
	if len(known.SuggestedReplies) == 0 {
		known.SuggestedReplies = intent.Suggest(q.words())
	}
	text, err := json.Marshal(known)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return "", nil, err
	}
	props, err = json.Marshal(all)
	return q.withOptions(c.Message), props, err
}

// withOptions makes sure that a person who sees the text alone knows what to
// choose from.
func (q question) withOptions(message string) string {
	for _, v := range q.props.ValidValues {
		if !strings.Contains(message, fmt.Sprint(v)) {
			return strings.TrimSpace(message) + " Available options are: " + list(q.props.ValidValues) + "."
		}
	}
	return message
}
