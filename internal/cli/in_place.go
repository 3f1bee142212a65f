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

// inPlace lets the person who watches a run answer its questions there. One is
// asked at a time; an answer from elsewhere takes the question back.
type inPlace struct {
	app *app
	cmd *cobra.Command
	api *client.Client
	// asked is the question that is being asked; "" when none is.
	asked  job.CheckpointID
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// inPlace returns who asks; nil where no person can be asked.
func (a *app) inPlace(cmd *cobra.Command, api *client.Client) *inPlace {
	if a.json() || !a.TypedFunc(cmd.InOrStdin()) || a.ColumnsFunc(cmd.OutOrStdout()) == 0 {
		return nil
	}
	return &inPlace{app: a, cmd: cmd, api: api}
}

// ask puts a question, and goes on while the person thinks.
func (q *inPlace) ask(ctx context.Context, c job.Checkpoint) {
	q.stop()
	ctx, q.cancel = context.WithCancel(ctx)
	q.asked = c.ID
	q.done.Go(func() { q.answer(ctx, c) })
}

// answer asks until the question is answered. What the server refuses is said,
// and asked again.
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
		case errors.As(err, &usage): // the person has closed the input: the job goes on waiting
			p.printf("%s\n", p.paint(faint, "Answer later with: ringback reply "+c.ID.Short()+" <text>"))
			return
		}
		PrintError(p, err)
		if !job.HasKind(err, job.Invalid) {
			return
		}
	}
}

// resolved takes a question back that is asked no more.
func (q *inPlace) resolved(id job.CheckpointID) {
	if q.asked == id {
		q.stop()
	}
}

// stop takes back whatever is being asked, and waits until nothing is written
// about it any more.
func (q *inPlace) stop() {
	if q.cancel != nil {
		q.cancel()
	}
	q.done.Wait()
	q.asked, q.cancel = "", nil
}

// review lets the person decide on a change; false where it is left for later.
func (q *inPlace) review(ctx context.Context, j job.Job) (decided bool, err error) {
	asker := q.app.asker(ctx, q.cmd)
	seen := client.Seen{Shown: job.ShownByLink}
	for {
		text, err := asker.line("Approve, reject or steer it? [a]pprove, [r]eject, [d]iff, what to change, or nothing to leave it: ")
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
			err = q.decide(ctx, j, client.Reply{Decision: job.Approve, Seen: seen})
		case "r", "reject":
			err = q.decide(ctx, j, client.Reply{Decision: job.Deny})
		default:
			if len(strings.Fields(text)) < 2 { // a slip of a finger is no wish
				asker.p.printf("%s\n", asker.p.paint(yellow, "Say in some more words what to change."))
				continue
			}
			_, err = q.api.Steer(ctx, j.ID, text)
		}
		return err == nil, err
	}
}

// decide answers the very review that was shown: should the change have gone on
// meanwhile, the server refuses.
func (q *inPlace) decide(ctx context.Context, j job.Job, r client.Reply) error {
	_, err := q.api.Reply(ctx, j.Checkpoint.ID, r)
	return err
}
