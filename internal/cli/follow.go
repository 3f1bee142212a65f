package cli

import (
	"context"
	"io"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

// followed identifies the job to follow.
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
	return watchEvents(ctx, api, w, func(e client.Event) (mayHaveEnded bool, err error) {
		return !e.Time.Before(f.from) && b.show(ctx, e), nil
	})
}

// away is shown when the server becomes unreachable.
const away = "The server is away; trying again …"

// watchEvents calls show for each event, until ctx ends, or the job of the watch has ended or waits
// for review, which is looked up when show returns true. It returns the job's record.
func watchEvents(
	ctx context.Context, api *client.Client, w client.Watch, show func(client.Event) (mayHaveEnded bool, err error),
) (j client.Answer[job.Job], err error) {
	for e, err := range api.Watch(ctx, w) {
		mayHaveEnded := false
		if err == nil {
			mayHaveEnded, err = show(e)
		}
		if err != nil {
			return j, err
		}
		if mayHaveEnded {
			if j, ended, err := ending(ctx, api, w.RequestID); ended || err != nil {
				return j, err
			}
		}
	}
	return j, ctx.Err()
}

// ending returns a job's record and reports whether the job has ended or waits for review. It waits
// for an unreachable server, because an event has proved that the server exists.
func ending(ctx context.Context, api *client.Client, id job.ID) (client.Answer[job.Job], bool, error) {
	j, err := client.UntilAvailable(ctx, func() (client.Answer[job.Job], error) { return api.Get(ctx, id) })
	return j, err == nil && (j.Value.State.Terminal() || underReview(j.Value)), err
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
