package job

import (
	"strings"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

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

// nameBytes limits each name in such a question.
const nameBytes = 160

// Named returns the name of a file, a repository or a verifier for use in the question: as
// code, unless it contains nothing that Markdown or Slack could interpret as markup or a
// link.
func Named(name string) string {
	if len(name) <= nameBytes && plainName().MatchString(name) && !strings.Contains(name, "www.") {
		return name
	}
	return AsCode(name)
}

// AsCode returns a text as code in Markdown, which it cannot end. Of a long one, it returns both ends.
func AsCode(text string) string {
	shown := strings.ReplaceAll(FileName(text), "`", "\\u0060")
	if len(shown) > nameBytes {
		shown = excerpt.Head(shown, nameBytes/2) + excerpt.Last(shown, nameBytes/2)
	}
	return "`" + shown + "`"
}

var plainName = lazy.Regexp(`^[A-Za-z0-9]+([./:_-][A-Za-z0-9]+)*/?$`)

// PublishedWords describes what of a change is public, which no later decision takes back; "" if nothing is.
func PublishedWords(all []Published) string {
	if len(all) == 0 {
		return ""
	}
	places := make([]string, len(all))
	for i, p := range all {
		places[i] = p.Words()
	}
	return "Already published, and not taken back by a rejection or the job's end: " + strings.Join(places, "; ") + "."
}

// Words describes where a commit is public.
func (p Published) Words() string {
	words := Named(p.Repository) + ": pushed to " + Named(p.Branch) + " as " + Named(p.Commit)
	if p.Unconfirmed {
		words = Named(p.Repository) + ": perhaps pushed to " + Named(p.Branch) + " as " + Named(p.Commit) + " (not confirmed)"
	}
	if p.URL != "" {
		words += ", " + AsCode(p.URL)
	}
	return words
}
