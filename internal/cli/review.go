package cli

import (
	"context"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

// review shows a change under review as diff and logs do, and prints what to do with it. It omits
// the review's text for the chat, except Claude's summary.
func (p printer) review(ctx context.Context, api *client.Client, j job.Job) {
	p.changed(j)
	p.printf("\n")
	var captured []job.DiffOutput
	if diff, err := api.Diff(ctx, j.ID); err == nil {
		captured = diff.Value
	}
	p.summary(ctx, api, *j.Checkpoint, captured)
	id := clean(j.ID.Short())
	p.printf("\n%s\n", p.paint(faint, strings.ReplaceAll(
		"ringback diff JOB | ringback logs JOB | ringback steer JOB -p … | ringback approve JOB | ringback reject JOB", "JOB", id,
	)))
}

// summary shows Claude's summary of a change, its files, and the outcomes of the verifiers.
func (p printer) summary(ctx context.Context, api *client.Client, c job.Checkpoint, captured []job.DiffOutput) {
	if summary, usual := summaryIn(c.Message); !usual {
		p.asks(c)
		p.printf("\n")
	} else if summary != "" {
		p.quoted("Claude", func(p printer) { p.hang("", "", "", summary) })
		p.printf("\n")
	}
	if captured != nil {
		p.diffSummary(c.RequestID, captured)
	}
	if note := noteIn(c.Message); note != "" {
		p.hang("  ", "  ", yellow, note)
	}
	if logs, err := api.Logs(ctx, c.RequestID); err == nil {
		for _, v := range job.FailedFirst(logs.Value) {
			p.verdict(v)
		}
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

// summaryIn returns Claude's summary of its change from the message of a review, without its fence,
// which it cannot close itself. usual is false for any other message; that describes a problem.
func summaryIn(message string) (summary string, usual bool) {
	switch {
	case strings.HasPrefix(message, "Claude completed "):
		_, summary, _ = strings.Cut(message, "Changes:\n")
		summary, _, _ = strings.Cut(summary, "\n```\n\nDiff summary:")
	case strings.HasPrefix(message, "Steering iteration "):
		_, summary, _ = strings.Cut(message, "\n\n")
		summary, _, _ = strings.Cut(summary, "\n```\n\nUpdated changes:")
	default:
		return "", false
	}
	return strings.Trim(summary, "`\n"), true
}
