package cli

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

type followed struct {
	id     job.ID
	userID string
	// from hides earlier events; zero shows all.
	from time.Time
}

// follow shows a job's progress until it has ended or its change waits for review, and returns its
// record.
func (a *app) follow(
	ctx context.Context, api *client.Client, f followed, out io.Writer, here *inPlace,
) (client.Answer[job.Job], error) {
	b := &progress{p: a.printer(out), here: here}
	defer b.clear()
	if here != nil {
		defer here.stop()
	}
	w := client.Watch{UserID: f.userID, RequestID: f.id, Since: new(job.Seq), Patient: true, AwayFunc: func(error) { b.note(away) }}
	return watchEvents(ctx, api, w, hasStopped, func(e client.Event) (mayHaveEnded bool, err error) {
		return !e.Time.Before(f.from) && b.show(ctx, e), nil
	})
}

// away is shown when the server becomes unreachable.
const away = "The server is away; trying again …"

// watchEvents calls show for each event, until ctx ends, or the job of the watch is over, which is looked
// up when show returns true. It returns the job's record.
func watchEvents(
	ctx context.Context, api *client.Client, w client.Watch, isOver func(job.Job) bool,
	show func(client.Event) (mayBeOver bool, err error),
) (j client.Answer[job.Job], err error) {
	for e, err := range api.Watch(ctx, w) {
		mayBeOver := false
		if err == nil {
			mayBeOver, err = show(e)
		}
		if err != nil {
			return j, err
		}
		if mayBeOver {
			if j, err = current(ctx, api, w.RequestID); err != nil || isOver(j.Value) {
				return j, err
			}
		}
	}
	return j, ctx.Err()
}

// current returns a job's record. It waits for an unreachable server, which is known to exist.
func current(ctx context.Context, api *client.Client, id job.ID) (client.Answer[job.Job], error) {
	return client.UntilAvailable(ctx, func() (client.Answer[job.Job], error) { return api.Get(ctx, id) })
}

func hasStopped(j job.Job) bool { return j.State.Terminal() || underReview(j) }

func hasEnded(j job.Job) bool { return j.State.Terminal() }

// replay calls show for the retained events of a watch's job. A job that has ended may have none after
// Since, so that waiting for one would never end.
func replay(ctx context.Context, api *client.Client, w client.Watch, show func(client.Event) error) error {
	for since := *w.Since; ; {
		page, err := api.Events(ctx, w.RequestID, since)
		if err == nil && page.Value.Resync {
			err = show(client.Event{Event: job.Event{Name: client.Resync}, JSON: json.RawMessage(`{"event":"resync"}`)})
		}
		if err != nil || len(page.Value.Events) == 0 {
			return err
		}
		for i, text := range listIn(page.JSON, "events") {
			e := page.Value.Events[i]
			e.JSON, since = text, e.ID
			if err := show(e); err != nil {
				return err
			}
		}
	}
}

// RunAndShow runs a job and shows its progress and result to a person. It returns the error of ctx
// if ctx ends first.
func RunAndShow(ctx context.Context, api *client.Client, n client.NewJob, out io.Writer, noColor bool) error {
	a := newApp(Defaults{NoColor: noColor})
	a.stderr = out
	created, err := api.Create(ctx, n)
	if err != nil {
		return err
	}
	j, err := a.follow(ctx, api, followed{id: created.Value.RequestID, userID: n.UserID}, out, nil)
	if err != nil {
		return err
	}
	a.printer(out).ending(j.Value)
	return resultOf(j.Value)
}

// resultOf returns errNoResult for a job that ended without a result.
func resultOf(j job.Job) error {
	if j.State != job.Received {
		return errNoResult
	}
	return nil
}
