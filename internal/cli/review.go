package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
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

func (a *app) reviewOf(ctx context.Context, c job.Checkpoint) review {
	r := review{question: c}
	if c.RequestID == "" { // a question of a system outside Ringback
		return r
	}
	missing := func(part string, err error) {
		if err != nil {
			r.unread = append(r.unread, part+" could not be read: "+oneLine(err.Error()))
		}
	}
	j, err := a.api.Get(ctx, c.RequestID)
	missing("The request", err)
	r.asked = job.NewRequestMessage(j.Value.Kind, decoded[map[string]any](j.Value.Input)).Content
	if j.Value.Result != nil {
		r.said = excerpt.Head(literal.Text(job.NewResultMessage(j.Value.Result).Content), mostSummary)
	}
	if iteration := decoded[job.Props](c.Props).Iteration; iteration > 0 {
		steering, err := a.api.Steering(ctx, c.RequestID)
		missing("The request", err)
		r.asked = ""
		for _, round := range steering.Value.History {
			if round.IterationNumber == iteration {
				r.asked = round.Prompt
			}
		}
	}
	logs, err := a.verifierOutputs(ctx, c.RequestID)
	missing("The results of the checks", err)
	r.checks = job.FailedFirst(logs)
	diff, err := a.api.Diff(ctx, c.RequestID)
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

// inPlace lets the person who watches a run answer its questions there. It asks one at a time, and
// withdraws a question that is answered elsewhere.
type inPlace struct {
	app *app
	cmd *cobra.Command
	// asked is the question being asked; empty if none is.
	asked  job.CheckpointID
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// inPlace returns nil if no person can be asked.
func (a *app) inPlace(cmd *cobra.Command) *inPlace {
	if a.json() || !a.TypedFunc(cmd.InOrStdin()) || a.columns(cmd.OutOrStdout()) == 0 {
		return nil
	}
	return &inPlace{app: a, cmd: cmd}
}

func (q *inPlace) ask(ctx context.Context, c job.Checkpoint) {
	q.stop()
	ctx, q.cancel = context.WithCancel(ctx)
	q.asked = c.ID
	q.done.Go(func() { q.answer(ctx, c) })
}

// answer asks until the question is answered. If the server refuses an answer as invalid, it prints
// the error and asks again.
func (q *inPlace) answer(ctx context.Context, c job.Checkpoint) {
	p := q.app.printer(q.cmd.ErrOrStderr())
	for ctx.Err() == nil {
		reply, err := q.app.ask(ctx, q.cmd, c)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			_, err = q.app.api.Reply(ctx, c.ID, reply)
		}
		var usage usageError
		switch {
		case err == nil, ctx.Err() != nil:
			return
		case errors.As(err, &usage): // the person has closed the input: the job keeps waiting
			p.printf("%s\n", p.paint(faint, "Answer later with: ringback reply "+clean(c.ID.Short())+" <text>"))
			return
		}
		PrintError(p, err)
		if !job.HasKind(err, job.Invalid) {
			return
		}
	}
}

// stop withdraws the current question and waits until nothing more is written about it.
func (q *inPlace) stop() {
	if q.cancel != nil {
		q.cancel()
	}
	q.done.Wait()
	q.asked, q.cancel = "", nil
}

// review lets the person decide on a change. decided is false if the person leaves it for later.
func (q *inPlace) review(ctx context.Context, j job.Job, warnings []string) (decided bool, err error) {
	asker := q.app.asker(q.cmd)
	asker.p.warn(warnings)
	seen := client.Seen{Shown: job.ShownByLink}
	for {
		text, err := asker.line(ctx, "Approve, reject or steer it? [a]pprove, [r]eject, [d]iff, what to change in another round, or nothing to leave it: ")
		var usage usageError
		switch {
		case errors.As(err, &usage):
			return false, nil
		case err != nil:
			return false, err
		}
		switch strings.ToLower(text) {
		case "":
			return false, nil
		case "d", "diff":
			err := q.app.diff(ctx, q.cmd, j.ID, diffFlags{full: true})
			if err != nil && !errors.Is(err, errDeclined) { // the pager was interrupted
				return false, err
			}
			if err == nil {
				seen.Shown = job.ShownWhole
			}
			continue
		case "a", "approve":
			// Exactly the review that was shown: if the change has moved on, the server refuses.
			_, err = q.app.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Decision: job.Approve, Seen: seen})
		case "r", "reject":
			_, err = q.app.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Decision: job.Deny})
		default:
			if decided, err := q.inWords(ctx, asker, j, text, seen); decided || err != nil {
				return decided, err
			}
			continue
		}
		return err == nil, err
	}
}

// inWords answers a review in words. The server reads them as it does everywhere; what is neither a yes
// nor a no may be meant for another round, which costs money: so the person is asked. It returns false
// if nothing was decided; the review of j is then the one that asks again.
func (q *inPlace) inWords(ctx context.Context, asker asker, j job.Job, text string, seen client.Seen) (decided bool, err error) {
	first, _, _ := strings.Cut(text, " ")
	if order := strings.ContainsAny(first, ":：") || strings.EqualFold(first, "steer"); !order { // such as "change: …"
		answer, err := q.app.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Text: text, Seen: seen})
		if err != nil || answer.Value.Status != job.Superseded {
			return err == nil, err
		}
		j.Checkpoint.ID = answer.Value.Next
	}
	err = asker.confirmed(ctx, "Start another round with this?")
	if _, usage := errors.AsType[usageError](err); usage || errors.Is(err, errDeclined) {
		return false, nil
	}
	if err == nil {
		_, err = q.app.steer(ctx, meant{j, true}, text)
	}
	return err == nil, err
}
