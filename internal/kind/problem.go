package kind

import (
	"ringback/internal/excerpt"
	"ringback/internal/schema"
)

// Problem is something wrong with a kind's files, its schemas included.
type Problem = schema.Problem

// maxQuoted is how many characters of a text are repeated to its author.
const maxQuoted = 80

func shorten(text string) string { return excerpt.Letters(text, maxQuoted) }
