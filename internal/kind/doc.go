// Package kind holds what makes one sort of job: its prompt, its policy (the
// prompt file's front matter) and the JSON Schemas of its input and result.
// A kind is three files; dropping them in adds it, no Go needed:
//
//	prompts/<kind>.md            front matter (optional) and system prompt
//	schemas/<kind>.input.json    what may be asked; without it, any object
//	schemas/<kind>.result.json   what may be answered; without it, any object
//
// Load reads them, later sources over earlier ones, and tells all problems of
// all files at once. Accept checks a result against its schema, see package schema,
// whose details tell Claude how to repair its payload in one try.
package kind
