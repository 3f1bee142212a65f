// Package kind holds what makes one sort of job: its prompt, its policy (the
// prompt file's front matter) and the JSON Schemas of its input and result.
// A kind is three files; dropping them in adds it, no Go needed.
package kind
