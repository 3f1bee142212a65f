package cli

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// inPlace lets the person who watches a run answer its questions there. It asks one at a time, and
// withdraws a question that is answered elsewhere.
type inPlace struct {
	app *app
	cmd *cobra.Command
	api *client.Client
	// asked is the question being asked; empty if none is.
	asked  job.CheckpointID
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// inPlace returns nil if no person can be asked.
func (a *app) inPlace(cmd *cobra.Command, api *client.Client) *inPlace {
	if a.json() || !a.TypedFunc(cmd.InOrStdin()) || a.columns(cmd.OutOrStdout()) == 0 {
		return nil
	}
	return &inPlace{app: a, cmd: cmd, api: api}
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
			_, err = q.api.Reply(ctx, c.ID, reply)
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
	asker := q.app.asker(ctx, q.cmd)
	asker.p.warn(warnings)
	seen := client.Seen{Shown: job.ShownByLink}
	for {
		text, err := asker.line("Approve, reject or steer it? [a]pprove, [r]eject, [d]iff, what to change in another round, or nothing to leave it: ")
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
			_, err = q.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Decision: job.Approve, Seen: seen})
		case "r", "reject":
			_, err = q.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Decision: job.Deny})
		default:
			if decided, err := q.inWords(asker, j, text, seen); decided || err != nil {
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
func (q *inPlace) inWords(asker asker, j job.Job, text string, seen client.Seen) (decided bool, err error) {
	first, _, _ := strings.Cut(text, " ")
	if order := strings.ContainsAny(first, ":：") || strings.EqualFold(first, "steer"); !order { // such as "change: …"
		answer, err := q.api.Reply(asker.ctx, j.Checkpoint.ID, client.Reply{Text: text, Seen: seen})
		if err != nil || answer.Value.Status != job.Superseded {
			return err == nil, err
		}
		j.Checkpoint.ID = answer.Value.Next
	}
	err = asker.confirmed("Start another round with this?")
	if _, usage := errors.AsType[usageError](err); usage || errors.Is(err, errDeclined) {
		return false, nil
	}
	if err == nil {
		_, err = steer(asker.ctx, q.api, meant{j, true}, text)
	}
	return err == nil, err
}
