// Package prompts holds the prompts of the built-in kinds.
package prompts

import "embed"

// FS holds <kind>.md for each built-in kind.
//
//go:embed *.md
var FS embed.FS
