package review

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lazy"
	"ringback/internal/literal"
	"ringback/internal/store"
)

const (
	// summaryBytes limits the question of a review, and outputBytes Claude's summary in it.
	summaryBytes = 3500
	outputBytes  = 1500
	// summaryFiles is the maximum number of a repository's files that are listed, in
	// addition to suspicious ones.
	summaryFiles = 20
)

// summaryText returns the question of a review. Claude's summary is fenced and limited, so that it can
// neither imitate nor crowd out the failed checks and the files.
func summaryText(id job.ID, c store.Captured) string {
	var out strings.Builder
	said := escapeFence(shownSummary(c.Output))
	if c.Iteration == 0 {
		fmt.Fprintf(&out, "Claude completed %s.\n\nChanges:\n```\n%s\n```\n\nDiff summary:\n", id, said)
	} else {
		fmt.Fprintf(
			&out, "Steering iteration %d complete for %s. This is %s.\n\n```\n%s\n```\n\nUpdated changes:\n", c.Iteration, id,
			job.RoundWords(c.Iteration, 0), said,
		)
	}
	for _, v := range c.Logs {
		if !v.Success {
			fmt.Fprintf(&out, "\n**FAILED %s** (exit code: %d)\n\n", named(v.Verifier), v.ExitCode)
		}
	}
	for _, d := range c.Diff {
		writeFiles(&out, d)
	}
	text := out.String()
	shown := excerpt.Head(text, summaryBytes)
	if shown != text {
		shown += "\nAll of it: ringback diff " + string(id) + "\n"
	}
	return shown + "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
}

// shownSummary returns what a reviewer is shown of Claude's summary. Only that is published.
func shownSummary(text string) string { return literal.Text(excerpt.Head(text, outputBytes)) }

// escapeFence prevents a text from closing its code fence.
func escapeFence(text string) string { return strings.ReplaceAll(text, "```", "'''") }

// named returns the name of a file, a repository or a verifier for use in the question: as
// code, unless it contains nothing that Markdown or Slack could interpret as markup or a
// link.
func named(name string) string {
	if plainName().MatchString(name) && !strings.Contains(name, "www.") {
		return name
	}
	return asCode(name)
}

// asCode returns a text as code in Markdown, which it cannot end.
func asCode(text string) string {
	return "`" + strings.ReplaceAll(job.FileName(text), "`", "\\u0060") + "`"
}

var plainName = lazy.Regexp(`^[A-Za-z0-9]+([./:_-][A-Za-z0-9]+)*/?$`)

// writeFiles lists the changed files of a repository. What a reviewer must not miss comes
// first, because the list may be cut.
func writeFiles(out *strings.Builder, d job.DiffOutput) {
	fmt.Fprintf(out, "**%s**: %s\n", named(d.Repository), d.Summary)
	for _, l := range d.LeftOut {
		fmt.Fprintf(out, "  - %s CAUTION: it would not be pushed: %s\n", named(l.Path), l.Reason)
	}
	for i, f := range job.SuspiciousFirst(d.Files) {
		if i >= summaryFiles && f.Suspicious == "" {
			fmt.Fprintf(out, "  - … and %d more\n", len(d.Files)-i)
			break
		}
		fmt.Fprintf(out, "  - %s (%s, +%d/-%d)", pathsOf(f), f.Status, f.Additions, f.Deletions)
		if f.Suspicious != "" {
			out.WriteString(" CAUTION: " + f.Suspicious)
		}
		out.WriteString("\n")
	}
}

// pathsOf returns the path of a file; of a renamed one, the old path and the new one.
func pathsOf(f job.FileDiff) string {
	if f.OldPath == "" {
		return named(f.Path)
	}
	return named(f.OldPath) + " → " + named(f.Path)
}

// truncationHint returns how to see all lines of a diff.
func truncationHint(id job.ID, d job.DiffOutput) string {
	what := "Long lines are cut here"
	if d.NextFrom > 0 {
		what = fmt.Sprintf("Here are the first %d of %d lines", d.NextFrom-1, d.TotalLines)
	}
	return fmt.Sprintf(
		"%s. All of them: ringback diff --full %s, or GET /api/jobs/%s/diff?from=1&max_lines=10000 and so on from next_from; file= shows one file.",
		what, id, id,
	)
}

// commitMessage returns a message with the prompt's first line as its title and Claude's
// summary, as the reviewer was shown it.
func commitMessage(j job.Job) string {
	var input struct {
		Prompt string `json:"prompt"`
	}
	_ = job.UnmarshalExact(j.Input, &input) // without a prompt, the title is the kind's name
	title, _, _ := strings.Cut(strings.TrimSpace(input.Prompt), "\n")
	title = cmp.Or(title, j.Kind)
	return excerpt.Letters(literal.Text(title), 72) + "\n\n" + shownSummary(job.NewResultMessage(j.Result).Content) +
		"\n\nRingback-Request: " + string(j.ID)
}

// resultMessage returns the chat message with the outcome for each repository.
func resultMessage(all []job.Finalized) string {
	lines := []string{"Done."}
	for _, f := range all {
		switch {
		case f.Unchanged:
			lines = append(lines, f.Repository+": nothing had changed")
		case f.URL != "":
			lines = append(lines, f.Repository+": PR created: "+f.URL)
		default:
			lines = append(lines, f.Repository+": pushed to "+f.Branch+" as "+f.Commit)
			if f.CompareURL != "" {
				lines = append(lines, "Open a pull request: "+f.CompareURL)
			}
		}
		if f.Note != "" {
			lines = append(lines, f.Note)
		}
	}
	return strings.Join(lines, "\n")
}

// failures returns why repositories could not be published; "" if all were.
func failures(list []job.Finalized) string {
	var lines []string
	for _, f := range list {
		if f.Error != "" {
			lines = append(lines, f.Repository+": "+f.Error)
		}
	}
	return strings.Join(lines, "\n")
}

// notPublishedText returns the question after a failed publication. What the repositories answered
// is an indented block, so that it is shown as text.
func notPublishedText(turn int, failed string) string {
	answered := strings.ReplaceAll(literal.Text(excerpt.Head(failed, 2000)), "\n", "\n    ")
	return fmt.Sprintf(
		"The approved change could not be published everywhere (turn %d):\n\n    %s\n\nApprove to try what failed again.",
		turn, answered,
	)
}

// onlyHereText warns the reviewer that a change cannot be moved to another machine.
func onlyHereText(why string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return "Only the server on " + host + " can publish this change or go on with it. It is not kept for other machines: " +
		asCode(why) + "."
}
