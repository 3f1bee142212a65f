// Package intent says what a person's words mean as the reply to a checkpoint,
// without a model, see docs/people.md.
//
// It never guesses. A decision is read only from a sentence of which every word
// is accounted for: whatever is left over, a condition, a doubt, a question, a
// name, makes it Unclear, and the person is asked again. What words mean as
// values may be doubtful to this package and still be clear to Claude: the
// caller asks Claude then, but never about a decision.
package intent
