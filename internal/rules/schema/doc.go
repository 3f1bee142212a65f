// Package schema implements JSON Schema as Ringback uses it: draft 2020-12, formats
// asserted, nothing fetched.
//
// New compiles a schema and reports mistakes with their lines, including those that are
// valid but hardly intended: a misspelt keyword, a rule that no value satisfies. Validate
// explains all errors of a value at once and what is allowed instead, so that its sender, a
// person or a model, can fix it in one try.
//
// Properties marked readOnly belong to the server: ForClaude leaves them out, and
// ApplyDefaults sets them. Items and ImpossibleWith validate a list that arrives in
// batches. Example creates a small valid value.
package schema
