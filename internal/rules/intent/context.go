package intent

import "ringback/internal/job"

// Context is the context in which words are interpreted.
type Context struct {
	Type job.CheckpointType
	// Message is the question as first asked. It is repeated if the person is asked back; its words
	// do not count as theirs.
	Message string
	// Orders are texts of the kind's author that begin with what a yes does, such as "Deploy " and
	// "Yes, Deploy". They make "deploy it" a yes.
	Orders   []string
	NoChange bool // True if nobody could make a change that the person asks for instead.
	// Offered is an earlier reply that the person was offered to pass on as a change request; empty
	// for none.
	Offered string
	Labels  []string // The options of a question that any text answers.
	Fields  []Field
	Known   map[string]any // Values from earlier rounds.
	// YesPhrases and NoPhrases are the asker's own wordings of a yes and a no, such as the texts of
	// its buttons.
	YesPhrases, NoPhrases []string
}

// Field is one requested value.
type Field struct {
	Name     string
	Type     string // String, number, integer or boolean.
	Enum     []any  // The allowed values: strings or numbers; empty for any.
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
	Outcome    Outcome
	Values     map[string]any // The given values, in the types of their fields.
	Reason     string         // Why the person said no, or what they want instead, in their words.
	SaidCancel bool           // True for a no in words that could have meant the whole job, such as "cancel".
	// Offer is the text itself if it was a yes with a condition. Question offers to pass it on as a
	// change request.
	Offer    string
	Question string // The question to ask back if a decision is Unclear.
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
	if r.Outcome == Unclear && q.Type.Binding() {
		return askBack(q, said, text)
	}
	return r
}
