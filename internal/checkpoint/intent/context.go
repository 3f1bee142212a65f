package intent

import (
	"encoding/json"

	"ringback/internal/job"
)

// Context is what the words are read against.
type Context struct {
	Type job.CheckpointType
	// Message is the question as the person was first asked: what was asked back
	// quotes them, and their words are not the question.
	Message string
	// Offered is an earlier reply that the person was offered to have handed on as
	// what they want changed; empty for none.
	Offered string
	// Field is the name of the single value that is asked for, if it has one.
	Field string
	// CurrentValue is the value that was refused.
	CurrentValue json.RawMessage
	// ValidValues are the options: strings or numbers.
	ValidValues []any
	// Fields are the values of a form.
	Fields []Field
	// Known are values that were given in earlier rounds.
	Known map[string]any
	// YesPhrases and NoPhrases are the asker's own wording of a yes and a no, such
	// as the texts of its buttons.
	YesPhrases, NoPhrases []string
}

// Field is one value of a form.
type Field struct {
	Name string
	// Type is string, number, integer or boolean.
	Type        string
	Description string
	// Enum are the values it may have; empty for any.
	Enum []any
	// Format is email, uri, date, date-time or empty.
	Format   string
	Required bool
}

// Outcome is what a reply amounts to.
type Outcome string

// The outcomes.
const (
	Approve Outcome = "approve" // a clear yes
	Deny    Outcome = "deny"    // a clear no
	Cancel  Outcome = "cancel"  // the person wants none of it any more
	Steer   Outcome = "steer"   // something else is wanted: Reading.Reason
	Values  Outcome = "values"  // values were given
	Unclear Outcome = "unclear" // ask again
)

// Reading is what the words were understood to mean.
type Reading struct {
	Outcome Outcome
	// Values are those that were given, in the types of their fields.
	Values map[string]any
	// Missing are the required fields that are still open.
	Missing []string
	// Reason is why the person said no, or what they want instead, in their words.
	Reason string
	// SaidCancel is true for a no in words that could have meant the whole job, such as "cancel".
	SaidCancel bool
	// Offer is the text itself where it was a yes with a condition: the Question
	// offers to hand it on as what should change.
	Offer string
	// Question is what to ask back where the outcome is Unclear.
	Question string
	// Confidence is 1 for what was said outright, less where a typing error was
	// mended, 0 for what is unclear.
	Confidence float64
}

// maxLength is how long a text may be for its words to be read, in bytes: what
// is longer is no plain answer.
const maxLength = 4000

// Read says what a text means as the reply to a question.
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
	if option, ok := exact(q.ValidValues, said); ok {
		return one(q, option, 1)
	}
	if cancels(said) {
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

// one is the reading of a reply that gives the single value asked for.
func one(q Context, value any, confidence float64) Reading {
	name := q.Field
	if name == "" {
		name = "value"
	}
	return Reading{Outcome: Values, Values: map[string]any{name: value}, Confidence: confidence}
}

// fieldOf describes the value that an error asks for by the one that was refused.
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
