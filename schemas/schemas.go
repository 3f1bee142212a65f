// Package schemas holds the JSON Schemas of the built-in kinds.
package schemas

import "embed"

// FS holds <kind>.input.json and <kind>.result.json for each built-in kind.
//
//go:embed *.json
var FS embed.FS
