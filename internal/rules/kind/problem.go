package kind

import (
	"ringback/internal/rules/schema"
	"ringback/internal/text/excerpt"
)

// Problem is a mistake in a kind's files, including its schemas.
type Problem = schema.Problem

// maxQuoted limits the characters of a text that are quoted to its author.
const maxQuoted = 80

func shorten(text string) string { return excerpt.Letters(text, maxQuoted) }
