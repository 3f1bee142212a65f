package meter

import (
	"context"
	"errors"
	"time"

	"ringback/internal/job"
	"ringback/internal/price"
	"ringback/internal/store"
)

// errSuperseded refuses the requests of a turn that is no longer its job's.
var errSuperseded = errors.New("the turn is over: its job goes on in another one")

// Admit waits until a request with a body of so many bytes may go out: while a budget is
// left. Requests that are out at the same time could pass a budget together, so another one
// follows only if the budget is left even if those cost as much as they can. While the store
// is away, a request under a budget waits.
func (t *Turn) Admit(ctx context.Context, bytes int64) (ended func(), err error) {
	most := t.meter.prices.Most(bytes)
	ended = func() { t.end(most) }
	if t.limits.None() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.begin(most)
		return ended, nil
	}
	for {
		booked, account, err := t.flush(ctx)
		wait := make(<-chan struct{})
		var away <-chan time.Time
		if err != nil {
			away = time.After(retryInterval)
		} else if wait, err = t.admit(booked, account, most); err != nil {
			return nil, err
		} else if wait == nil {
			return ended, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-wait:
		case <-away:
		}
	}
}

// admit notes that a request goes out, if it may by what was booked. Else it returns what to
// wait for before asking again.
func (t *Turn) admit(booked job.Metered, account store.Account, most price.Nano) (wait <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if account.Turn > t.turn {
		return nil, errSuperseded
	}
	if t.open == 0 && booked != t.used { // a request has ended meanwhile
		again := make(chan struct{})
		close(again)
		return again, nil
	}
	t.refused = t.limits.UsedUp(account)
	if t.refused != nil {
		return nil, t.refused
	}
	if left, limited := t.limits.of(account).Left(account.Spent); limited && t.open > 0 && t.most >= left {
		return t.changed, nil
	}
	t.begin(most)
	return nil, nil
}

func (t *Turn) begin(most price.Nano) {
	t.open++
	t.most += most
}

func (t *Turn) end(most price.Nano) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	t.most -= most
	close(t.changed)
	t.changed = make(chan struct{})
}
