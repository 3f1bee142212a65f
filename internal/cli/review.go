package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ringback/client"
	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/literal"
)

// review contains what a person reads about a change before a decision. It comes from the records of
// the job, not from the text of the question, most of which others have written.
type review struct {
	question job.Checkpoint
	// asked are the words with which this round was requested.
	asked string
	// checks are the results of the verifiers, failed ones first.
	checks []job.VerifierOutput
	diff   []job.DiffOutput
	// said is Claude's summary.
	said string
	// unread are the parts that could not be read.
	unread []string
}

func reviewOf(ctx context.Context, api *client.Client, c job.Checkpoint) review {
	r := review{question: c}
	if c.RequestID == "" { // a question of a system outside Ringback
		return r
	}
	missing := func(part string, err error) {
		if err != nil {
			r.unread = append(r.unread, part+" could not be read: "+oneLine(err.Error()))
		}
	}
	j, err := api.Get(ctx, c.RequestID)
	missing("The request", err)
	r.asked = job.NewRequestMessage(j.Value.Kind, decoded[map[string]any](j.Value.Input)).Content
	if j.Value.Result != nil {
		r.said = excerpt.Head(literal.Text(job.NewResultMessage(j.Value.Result).Content), mostSummary)
	}
	if iteration := decoded[job.Props](c.Props).Iteration; iteration > 0 {
		steering, err := api.Steering(ctx, c.RequestID)
		missing("The request", err)
		r.asked = ""
		for _, round := range steering.Value.History {
			if round.IterationNumber == iteration {
				r.asked = round.Prompt
			}
		}
	}
	logs, err := verifierOutputs(ctx, api, c.RequestID)
	missing("The results of the checks", err)
	r.checks = job.FailedFirst(logs)
	diff, err := api.Diff(ctx, c.RequestID)
	missing("The list of files", err)
	r.diff = diff.Value
	return r
}

// mostSummary is the number of bytes of Claude's summary that are shown.
const mostSummary = 1500

// warnings returns what must not be missed before a yes: failed checks, files to look at twice, and
// what could not be read.
func (r review) warnings() (all []string) {
	for _, v := range r.checks {
		if !v.Success {
			all = append(all, "FAILED "+verdictText(v))
		}
	}
	for _, d := range r.diff {
		for _, l := range d.LeftOut {
			all = append(all, "CAUTION "+job.FileName(l.Path)+": it would not be pushed: "+l.Reason)
		}
		for _, f := range d.Files {
			if f.Suspicious != "" {
				all = append(all, "CAUTION "+job.FileName(f.Path)+": "+f.Suspicious)
			}
		}
	}
	return append(all, r.unread...)
}

// isUsual reports whether the question is about what Claude has done, which the rest of the review
// shows, and not about a problem.
func (r review) isUsual() bool {
	return r.said != "" && slices.ContainsFunc([]string{"Claude completed ", "Steering iteration "}, func(begin string) bool {
		return strings.HasPrefix(r.question.Message, begin)
	})
}

// review shows a change under review as diff and logs do, and prints what to do with it.
func (p printer) review(r review, j job.Job) {
	p.changed(j)
	p.printf("\n")
	p.summary(r)
	id := clean(j.ID.Short())
	p.printf("\n%s\n", p.paint(faint, strings.ReplaceAll(
		"ringback diff JOB | ringback logs JOB | ringback steer JOB -p … | ringback approve JOB | ringback reject JOB", "JOB", id,
	)))
}

// summary shows the person's words, the outcomes of the verifiers, the files, and Claude's summary. The
// review's text for the chat, which repeats that, is shown if it describes something else: a problem.
func (p printer) summary(r review) {
	if r.asked != "" {
		p.quoted("Asked for", func(p printer) { p.hang("", "", "", r.asked) })
	}
	for _, v := range r.checks {
		p.verdict(v)
	}
	for _, text := range r.unread {
		p.hang("", "  ", red, text)
	}
	p.printf("\n")
	if r.diff != nil {
		p.diffSummary(r.question.RequestID, r.diff)
	}
	if note := noteIn(r.question.Message); note != "" {
		p.hang("  ", "  ", yellow, note)
	}
	p.printf("\n")
	if r.isUsual() {
		p.quoted("Claude", func(p printer) { p.hang("", "", "", r.said) })
	} else {
		p.asks(r.question)
	}
}

// noteIn returns what Ringback adds to the question of a review, after all that others wrote.
func noteIn(message string) string {
	const replies = "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
	at := strings.LastIndex(message, replies)
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(message[at+len(replies):])
}

func verdictText(v job.VerifierOutput) string {
	text := fmt.Sprintf("%s (exit code: %d)", clean(job.FileName(v.Verifier)), v.ExitCode)
	if v.TimedOut {
		text += " timed out"
	}
	return text
}
