package approval

import (
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

const (
	// mostExamples limits the earlier calls that a question lists, and mostOfExample the bytes of each
	// input.
	mostExamples  = 3
	mostOfExample = 300
)

// Covers describes which calls a reusable approval of a rule would allow, with examples
// from the audit log of the job that asks. The rule is one that a Judgement permits.
func Covers(rule string, log []job.AuditEntry) *job.Covers {
	covers := &job.Covers{Segments: says(rule)}
	named := map[string]bool{}
	for _, e := range slices.Backward(log) {
		if e.Rule != rule || e.Event != "asked" && e.Event != "allowed" {
			continue
		}
		if named[Key(e.Operation)] {
			continue
		}
		named[Key(e.Operation)] = true
		if covers.Earlier++; covers.Earlier > mostExamples {
			continue
		}
		input := job.Readable(e.Input)
		shown := excerpt.First(input, mostOfExample)
		covers.Examples = append(
			covers.Examples,
			job.Example{Tool: job.Bare(e.Tool), Input: shown, Omitted: len(input) - len(shown), CheckpointID: e.CheckpointID},
		)
	}
	return covers
}

// says describes in plain words what a rule allows.
func says(text string) []job.Segment {
	ours := func(text string) job.Segment { return job.Segment{From: job.FromRingback, Text: text} }
	kinds := func(text string) job.Segment { return job.Segment{From: job.FromKind, Text: text} }
	rule, err := parseToolRule(text)
	if err != nil { // the text is from exactly
		tool, input, _ := strings.Cut(text, ": ")
		return []job.Segment{
			ours("the same call of "),
			{From: job.FromValue, Text: job.Bare(tool)},
			ours(" again, if its input is exactly this one: "),
			{From: job.FromValue, Text: literal.JSON(input)},
		}
	}
	before, what, after := rule.words()
	segments := []job.Segment{ours(before)}
	if what != "" {
		segments = append(segments, kinds(what))
	}
	return append(segments, ours(after+". What another rule denies or asks for still is denied or asked for"))
}

// words describes what a rule covers. what is the kind's own text, and before and after are
// Ringback's. The cases follow isFor for the tools and match for the patterns.
func (r toolRule) words() (before, what, after string) {
	switch {
	case r.tool == "Bash":
		return r.shellWords()
	case r.tool == "WebFetch" && r.pattern != "":
		return r.addressWords()
	case isFileTool(r.tool):
		return r.fileWords()
	case r.pattern != "":
		return "every call of " + r.tool + " whose input, as JSON, matches ", r.pattern, anyText
	case strings.HasSuffix(r.tool, "*"):
		return "every call of every tool whose name begins with ", strings.TrimSuffix(r.tool, "*"), ""
	case strings.HasPrefix(r.tool, "mcp__") && strings.Count(r.tool, "__") == 1:
		return "every call of every tool of the MCP server ", strings.TrimPrefix(r.tool, "mcp__"), ""
	}
	return "every call of ", r.tool, ""
}

func (r toolRule) shellWords() (before, what, after string) {
	const ownDir = ", in the job's own directory if it may run other programs"
	switch {
	case r.pattern == "":
		return "every shell command that can be understood in full", "", ""
	case r.isExact():
		return "the shell command ", r.pattern, ", whatever it runs" + ownDir
	}
	return "every shell command whose parts all match ", r.pattern, anyText + ownDir
}

func (r toolRule) fileWords() (before, what, after string) {
	all, matching := "every call of "+r.tool, "every call of "+r.tool+" for files that match "
	switch r.tool {
	case "Edit":
		all, matching = "every change of a file", "every change of a file that matches "
	case "Read":
		all, matching = "every reading of a file and every search in files", "every reading of, and search in, files that match "
	}
	if r.pattern == "" {
		return all, "", ""
	}
	return matching, r.pattern, " (* is any text within a name, ** any directories)"
}

func (r toolRule) addressWords() (before, what, after string) {
	domain, isDomain := strings.CutPrefix(r.pattern, "domain:")
	base, below := strings.CutPrefix(domain, "*.")
	switch {
	case domain == "*":
		return "every call of WebFetch, whatever the address", "", ""
	case isDomain && below:
		return "every call of WebFetch for the host ", base, " and all hosts below it"
	case isDomain:
		return "every call of WebFetch for the host ", domain, ""
	}
	return "every call of WebFetch for an address that matches ", r.pattern, anyText
}

const anyText = " (* is any text)"
