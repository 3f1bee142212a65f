package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"ringback/internal/job"
)

// Wait returns the record of a job as soon as the job has ended or is in one of the given states.
// For example, Wait(ctx, id, AwaitingApproval, AwaitingInput) also returns when the job asks a
// person. It survives restarts of the server. Errors: those of Get, and that of ctx.
func (c *Client) Wait(ctx context.Context, id job.ID, states ...job.State) (Answer[job.Job], error) {
	record, err := c.Get(ctx, id)
	if err != nil || reached(record, states) {
		return record, err
	}
	watch := Watch{UserID: record.Value.UserID, RequestID: id, Since: new(job.Seq), Patient: true}
	for e, err := range c.Watch(ctx, watch) {
		if err != nil {
			return record, err
		}
		if !movesJob(e) {
			continue
		}
		record, err = UntilAvailable(ctx, func() (Answer[job.Job], error) { return c.Get(ctx, id) })
		if err != nil || reached(record, states) {
			return record, err
		}
	}
	return record, ctx.Err()
}

func reached(record Answer[job.Job], states []job.State) bool {
	return record.Value.State.Terminal() || slices.Contains(states, record.Value.State)
}

// movesJob reports whether an event may come with a change of the job's state.
func movesJob(e Event) bool {
	return !slices.Contains(
		[]job.EventType{job.EventActivity, job.EventPartial, job.EventMessage, job.EventHeard, job.EventVersion}, e.Type(),
	)
}

// UntilAvailable repeats a request until the server responds and is not Unavailable: after 500 ms or
// somewhat more, or later if the server asks for it. Use it only for requests that can be repeated
// safely: reads, and Create with an IdempotencyKey.
func UntilAvailable[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		e, ok := errors.AsType[*job.Error](err)
		if !ok || e.Kind != job.Unavailable {
			return answer, err
		}
		pause(ctx, max(e.RetryAfter, 500*time.Millisecond))
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
	}
}
