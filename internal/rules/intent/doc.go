// Package intent determines the meaning of a person's words as the reply to a checkpoint, without a
// model, see docs/people.md.
//
// It never guesses. A decision is accepted only if every word of the sentence is accounted for.
// Anything left over (a condition, a doubt, a question, a name) makes it Unclear, and the person is
// asked again. A value is accepted only if it is written as such. Other texts may still be clear to
// Claude; the caller asks Claude then, but never about a decision.
package intent
