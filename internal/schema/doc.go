// Package schema is JSON Schema as Ringback uses it: draft 2020-12, formats asserted,
// nothing fetched.
//
// New compiles a schema and tells mistakes with their lines, also those that are
// valid and yet hardly meant: a misspelt keyword, a demand that nothing satisfies.
// Validate explains all faults of a value at once, each with what is allowed there,
// so that whoever sent it, a person or a model, can repair it in one try.
//
// Properties marked readOnly belong to the server: ForClaude leaves them out, and
// ApplyDefaults sets them. Items and ImpossibleWith judge a list that arrives in
// batches. Example makes a small value that is valid.
package schema
