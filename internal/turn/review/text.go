package review

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

// The question of a review consists of what Ringback has found, and then of Claude's summary. Each part
// has its own limit, in bytes, so that none can crowd out another: neither Claude nor a repository
// decides whether a failed check, or any repository, is named.
const (
	checksBytes   = 800
	cautionsBytes = 1500 // of all repositories together, like filesBytes
	filesBytes    = 1000
	outputBytes   = 1500
	// outputLines also limits Claude's summary, and answerBytes what the host of a repository answered.
	outputLines = 40
	answerBytes = 700
	// summaryFiles is the maximum number of a repository's files that are listed; suspicious ones may
	// be more.
	summaryFiles = 20
)

type findings struct {
	strings.Builder
	// omits is true if something is left out.
	omits bool
}

// list adds at most a number of lines, of at most a number of bytes. more is the format for the number of the others.
func (f *findings) list(lines []string, most, size int, more string) {
	for i, line := range lines {
		if size -= len(line); i == most || size < 0 {
			f.omits = true
			fmt.Fprintf(f, more, len(lines)-i)
			return
		}
		f.WriteString(line)
	}
}

// summaryText returns the question of a review. Claude's summary is fenced and indented, so that it
// cannot imitate a line of Ringback's.
func summaryText(id job.ID, c store.Captured) string {
	f := &findings{}
	if c.Iteration == 0 {
		fmt.Fprintf(f, "Claude completed %s.\n\nDiff summary:\n", id)
	} else {
		fmt.Fprintf(f, "Steering iteration %d complete for %s.\n\nUpdated changes:\n", c.Iteration, id)
	}
	var failed []string
	for _, v := range c.Logs {
		if !v.Success {
			failed = append(failed, fmt.Sprintf("\n**FAILED %s** (exit code: %d)\n", job.Named(v.Verifier), v.ExitCode))
		}
	}
	f.list(failed, len(failed), checksBytes, "\n**FAILED: %d more**\n")
	for _, d := range c.Diff {
		f.files(d, len(c.Diff))
	}
	if f.omits {
		fmt.Fprintf(f, "\nAll of it: ringback diff %s\n", id)
	}
	if c.Iteration > 0 { // people count from 1
		fmt.Fprintf(f, "\nThis is %s.\n", job.RoundWords(c.Iteration, 0))
	}
	said := strings.ReplaceAll(escapeFence(shownSummary(c.Output)), "\n", "\n  ")
	fmt.Fprintf(f, "\nClaude's summary:\n%s\n  %s\n%[1]s\n\nReply: `approve`, `reject`, or `steer \"<prompt>\"`", job.CodeFence, said)
	return f.String()
}

// shownSummary returns what a reviewer is shown of Claude's summary. Only that is published.
func shownSummary(text string) string {
	text = literal.Text(text)
	if lines := strings.SplitN(text, "\n", outputLines+1); len(lines) > outputLines {
		text = strings.Join(lines[:outputLines], "\n") + excerpt.Mark
	}
	return excerpt.Head(text, outputBytes)
}

// escapeFence prevents a text from closing its code fence.
func escapeFence(text string) string { return strings.ReplaceAll(text, job.CodeFence, "'''") }

// files lists the changed files of one of several repositories. What a reviewer must not miss comes
// first.
func (f *findings) files(d job.DiffOutput, repositories int) {
	fmt.Fprintf(f, "\n**%s**: %s\n", job.Named(d.Repository), d.Summary)
	var cautions, others []string
	for _, l := range d.LeftOut {
		cautions = append(cautions, fmt.Sprintf("  - %s CAUTION: it would not be pushed: %s\n", job.Named(l.Path), l.Reason))
	}
	for _, file := range d.Files {
		line := fmt.Sprintf("  - %s (%s, %s)", pathsOf(file), file.Status, extentOf(file))
		if file.Suspicious != "" {
			cautions = append(cautions, line+" CAUTION: "+file.Suspicious+"\n")
		} else {
			others = append(others, line+"\n")
		}
	}
	f.list(cautions, len(cautions), cautionsBytes/repositories, "  - CAUTION: %d more of these\n")
	f.list(others, max(0, summaryFiles-len(cautions)), filesBytes/repositories, "  - … and %d more\n")
}

// extentOf returns what has changed of a file: the number of its lines, and its mode.
func extentOf(f job.FileDiff) string {
	extent := fmt.Sprintf("+%d/-%d", f.Additions, f.Deletions)
	if f.Binary {
		extent = "binary"
	}
	if f.Mode != "" {
		extent += ", mode " + f.Mode
	}
	return extent
}

func pathsOf(f job.FileDiff) string {
	if f.OldPath == "" {
		return job.Named(f.Path)
	}
	return job.Named(f.OldPath) + " → " + job.Named(f.Path)
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

// answered returns what a repository or its host answered, cleaned and limited. None of its lines begins
// where one of Ringback's does.
func answered(text string, most int) string {
	return strings.ReplaceAll(excerpt.Head(literal.Text(strings.TrimSpace(text)), most), "\n", "\n"+job.CodeIndent)
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
			lines = append(lines, answered(f.Note, answerBytes))
		}
	}
	return strings.Join(lines, "\n")
}

func failures(list []job.Finalized) string {
	var lines []string
	for _, f := range list {
		if f.Error != "" {
			lines = append(lines, f.Repository+": "+answered(f.Error, answerBytes))
		}
	}
	return strings.Join(lines, "\n")
}

// notPublishedText returns the question after a failed publication. What the repositories answered
// is an indented block, so that it is shown as text.
func notPublishedText(turn int, failed string) string {
	return fmt.Sprintf(
		"The approved change could not be published everywhere (turn %d):\n\n%s\n\nApprove to try what failed again.",
		turn, job.CodeIndent+strings.ReplaceAll(failed, "\n", "\n"+job.CodeIndent),
	)
}

// onlyHereText warns the reviewer that a change cannot be moved to another machine.
func onlyHereText(why string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return "Only the server on " + host + " can publish or continue this change. It was not copied for other machines: " +
		job.AsCode(why) + "."
}
