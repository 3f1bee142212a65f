// Package kind holds the definition of a sort of job: its prompt, its policy (the
// prompt file's front matter) and the JSON Schemas of its input and result. A kind
// consists of three files; adding them adds the kind, without any Go code:
//
//	prompts/<kind>.md            front matter (optional) and system prompt
//	schemas/<kind>.input.json    schema of the input; by default any object
//	schemas/<kind>.result.json   schema of the result; by default any object
//
// Load reads them, with later sources replacing earlier ones, and returns all problems
// of all files together. Accept checks a result against its schema, see package schema;
// the details show Claude how to repair its payload in one attempt.
package kind
