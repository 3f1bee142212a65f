package job

import "strings"

// The question of a review is Markdown. Ringback quotes what others wrote, Claude's summary or the answer of
// a repository's host, in a code block: between two lines with CodeFence, or indented by CodeIndent.
const (
	CodeFence  = "```"
	CodeIndent = "    "
)

// ReviewWords returns the question of a review with each code block replaced by what quote returns for its
// text, to be shown where code blocks are not.
func ReviewWords(message string, quote func(others string) string) string {
	var out strings.Builder
	var others []string
	quoted := func() {
		if others != nil {
			out.WriteString(quote(strings.Join(others, "\n")))
		}
		others = nil
	}
	fenced := false
	for i, line := range strings.Split(message, "\n") {
		switch {
		case line == CodeFence:
			fenced = !fenced
		case fenced, strings.HasPrefix(line, CodeIndent):
			others = append(others, line)
		default:
			quoted()
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(line)
		}
	}
	quoted()
	return out.String()
}
