package intent

import (
	"encoding/json"

	"ringback/internal/job"
)

// Context is the context in which words are interpreted.
type Context struct {
	Type job.CheckpointType
	// Message is the question as first asked. Later questions quote the person, and the person's
	// words are not the question.
	Message string
	// Offered is an earlier reply that the person was offered to pass on as a change request; empty
	// for none.
	Offered string
	// Field is the name of the single requested value, if it has one.
	Field string
	// CurrentValue is the value that was refused.
	CurrentValue json.RawMessage
	// ValidValues are the options: strings or numbers.
	ValidValues []any
	// Labels are the options of a question that any text answers.
	Labels []any
	// Fields are the values of a form.
	Fields []Field
	// Known are values from earlier rounds.
	Known map[string]any
	// YesPhrases and NoPhrases are the asker's own wordings of a yes and a no, such as the texts of
	// its buttons.
	YesPhrases, NoPhrases []string
}

// Field is one value of a form.
type Field struct {
	Name string
	// Type is string, number, integer or boolean.
	Type        string
	Description string
	// Enum are the allowed values; empty for any.
	Enum []any
	// Format is email, uri, date, date-time or empty.
	Format   string
	Required bool
}

// Outcome is the meaning of a reply.
type Outcome string

// The outcomes.
const (
	Approve Outcome = "approve" // a clear yes
	Deny    Outcome = "deny"    // a clear no
	Cancel  Outcome = "cancel"  // the person wants to stop altogether
	Steer   Outcome = "steer"   // the person wants a change: Reading.Reason
	Values  Outcome = "values"  // values were given
	Unclear Outcome = "unclear" // ask again
)

// Reading is the interpretation of a reply.
type Reading struct {
	Outcome Outcome
	// Values are the given values, in the types of their fields.
	Values map[string]any
	// Missing are the required fields without a value.
	Missing []string
	// Reason is why the person said no, or what they want instead, in their words.
	Reason string
	// SaidCancel is true for a no in words that could have meant the whole job, such as "cancel".
	SaidCancel bool
	// Offer is the text itself if it was a yes with a condition. Question offers to pass it on as a
	// change request.
	Offer string
	// Question is the question to ask back if the outcome is Unclear.
	Question string
	// Confidence is 1 for an explicit reply, less if a typing error was corrected, and 0 if the
	// reply is unclear.
	Confidence float64
}

// maxLength is the maximum length of a text to interpret, in bytes. A longer text is no plain
// answer.
const maxLength = 4000

// Read interprets a text as the reply to a question.
func Read(q Context, text string) Reading {
	said := parse(text)
	var r Reading
	switch {
	case len(text) > maxLength || len(said.tokens) == 0:
		r.Outcome = Unclear
	case q.Type.Binding():
		r = decide(q, said)
	default:
		r = values(q, said)
	}
	switch {
	case r.Outcome != Unclear:
		return r
	case q.Type.Binding():
		return askBack(q, said, text)
	}
	return Reading{Outcome: Unclear, Question: valueAgain(q)}
}

func values(q Context, said sentence) Reading {
	if option, ok := exact(q.options(), said); ok {
		return one(q, option, 1)
	}
	if cancels(said) && !q.offers(said) {
		return Reading{Outcome: Cancel, Confidence: 1}
	}
	switch {
	case len(q.ValidValues) > 0:
		if option, confidence := choose(q.ValidValues, said, fieldWords(q.Field)); confidence > 0 {
			return one(q, option, confidence)
		}
	case len(q.Fields) > 0:
		return fill(q, said)
	case q.Type == job.ErrorRecovery:
		if v, ok := bare(fieldOf(q), said); ok {
			return one(q, v, 1)
		}
	}
	return Reading{Outcome: Unclear}
}

// options returns the values to choose from if a single value is the whole answer.
func (q Context) options() []any {
	if len(q.ValidValues) == 0 && len(q.Fields) == 1 {
		return q.Fields[0].Enum
	}
	return q.ValidValues
}

// offers reports whether a text is one of the question's labels, word for word.
func (q Context) offers(said sentence) bool {
	_, ok := exact(q.Labels, said)
	return ok
}

// one returns the reading of a reply that gives the single requested value.
func one(q Context, value any, confidence float64) Reading {
	name := q.Field
	if name == "" {
		name = "value"
	}
	return Reading{Outcome: Values, Values: map[string]any{name: value}, Confidence: confidence}
}

// fieldOf describes the value that an error asks for, based on the value that was refused.
func fieldOf(q Context) Field {
	f := Field{Name: q.Field, Type: "token", Required: true}
	var current any
	if json.Unmarshal(q.CurrentValue, &current) == nil {
		switch current.(type) {
		case float64:
			f.Type = "number"
		case bool:
			f.Type = "boolean"
		}
	}
	return f
}
