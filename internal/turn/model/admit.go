package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/store"
)

// errSuperseded refuses the requests of a turn that is no longer its job's.
var errSuperseded = errors.New("the turn is over: its job continues in another one")

type request struct {
	asked Asked
	use   Use
	// reading is the maximum cost of its prompt, and writing that of a response.
	reading, writing price.Nano
	// most is the maximum that it may still cost, and unsettled what it is charged if
	// nothing more is heard from it, in addition to the cost of its use.
	most, unsettled price.Nano
}

// rounds is the maximum number of times that the API calls models for one request.
const rounds = 10

// newRequest returns a request without a response yet. If its connection breaks, the API is
// assumed to have read it. A streamed response has begun when its first token arrives, and
// ends with the connection; any other may have been generated completely.
func (m *Meter) newRequest(a Asked) *request {
	prompt := min(a.Bytes+a.Media, Window)
	u := price.Usage{CacheWrite: prompt, Fast: a.Fast, US: a.US}
	if a.Hour {
		u.CacheWrite1h = prompt
	}
	r := &request{asked: a, reading: m.dearest(a, u)}
	u.Output = a.MaxOutput
	r.writing = m.dearest(a, u) - r.reading
	r.most, r.unsettled = r.reading+r.writing, r.reading
	if a.Repeats {
		r.most += r.unreported()
	}
	if !a.Stream {
		r.unsettled = r.most
	}
	return r
}

// dearest returns the maximum price of a usage by the models that a request names.
func (m *Meter) dearest(a Asked, u price.Usage) price.Nano {
	if a.Other == "" {
		return m.price(a.Model, u)
	}
	return max(m.price(a.Model, u), m.price(a.Other, u))
}

// unreported returns the maximum cost of what the API reports only at the end of a response.
func (r *request) unreported() price.Nano {
	cost := (rounds - 1) * r.reading
	if r.asked.Hidden {
		cost += r.writing
	}
	return cost
}

// begun updates a request with what the API has reported once its response has begun.
func (m *Meter) begun(r *request, report Report) {
	with := func(output int64) price.Nano {
		u := report.Use.Usage
		u.Output = max(u.Output, output)
		return m.price(report.Use.Model, u) - m.price(report.Use.Model, report.Use.Usage)
	}
	r.most, r.unsettled = with(r.asked.MaxOutput), with(report.Written)
	if r.asked.Repeats {
		r.most, r.unsettled = r.most+r.unreported(), r.unsettled+r.unreported()
	}
}

// refuse returns why a turn must not send a request under a budget: because the costs would not be known.
// It returns nil if it may.
func (t *Turn) refuse(asked Asked) error {
	t.warn(asked.Unpriced)
	t.mu.Lock()
	defer t.mu.Unlock()
	unpriced := cmp.Or(asked.Unpriced, t.unpriced)
	if unpriced == "" || t.limits.None() {
		return nil
	}
	return fmt.Errorf("the server does not know what the model's API charges for the %s: a turn under a budget must not use it", unpriced)
}

// warn logs something without a price, once.
func (t *Turn) warn(unpriced string) {
	if unpriced != "" {
		t.meter.warnOnce(
			unpriced, "no price is known: not charged, and refused to turns under a budget", "for", unpriced,
			"requestId", t.id, "turn", t.turn,
		)
	}
}

// Admit waits until a request may be sent: as long as a budget is left. Concurrent requests
// could exceed a budget together, so another one is admitted only if the budget would be
// left even if all requests in flight cost their maximum. The store records a request
// before it is sent, so that it counts even if this server is lost. While the store is
// unavailable, a request under a budget waits. The returned function must be called with
// reports on the request.
func (t *Turn) Admit(ctx context.Context, asked Asked) (reportFunc func(Report), err error) {
	if err := t.refuse(asked); err != nil {
		return nil, err
	}
	r := t.meter.newRequest(asked)
	for {
		wait, err := t.tryToAdmit(ctx, r)
		if err != nil {
			return nil, err
		}
		if wait == nil {
			return t.reporting(ctx, r), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-wait:
		case <-time.After(retryInterval/2 + time.Duration(time.Now().UnixNano())%retryInterval): // other nodes try at other times
		}
	}
}

// tryToAdmit records that a request is in flight, if it may be sent. Otherwise it undoes
// that, and returns what to wait for before the next try.
func (t *Turn) tryToAdmit(ctx context.Context, r *request) (wait <-chan struct{}, err error) {
	if t.limits.None() {
		t.begin(ctx, r)
		return nil, nil
	}
	t.storing.Lock()
	defer t.storing.Unlock()
	out, changed := t.begin(ctx, r)
	account, err := t.flushLocked(ctx)
	if err != nil {
		t.drop(r) // the next booking contains it
		return changed, ctx.Err()
	}
	others := account.Out
	spending := job.Spending{Job: out, User: others.User + out, Kind: others.Kind + out, Server: others.Server + out}
	err = t.verdict(account)
	if err == nil && t.limits.of(account).Bear(account.Spent, spending) {
		return nil, nil
	}
	t.drop(r)
	_, _ = t.flushLocked(context.WithoutCancel(ctx)) // if this fails, the next booking corrects it
	return changed, err
}

// verdict returns why no request of the turn may be sent any more; nil if one may.
func (t *Turn) verdict(account store.Account) error {
	if account.Turn > t.turn {
		return errSuperseded
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = t.limits.UsedUp(account)
	if t.refused != nil {
		return t.refused
	}
	return nil
}

// begin adds a request in flight. It returns the maximum that the others may still cost, and a channel that is
// closed when one of them ends.
func (t *Turn) begin(ctx context.Context, r *request) (others price.Nano, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	others, changed = t.most(), t.changed
	t.open[r] = true
	t.record()
	t.keepBooked(ctx)
	return others, changed
}

func (t *Turn) drop(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, r)
	t.record()
}

// most returns the maximum that the requests in flight may still cost. t.mu is held.
func (t *Turn) most() (sum price.Nano) {
	for r := range t.open {
		sum += r.most
	}
	return sum
}

// reporting returns the function that processes reports on a request.
func (t *Turn) reporting(ctx context.Context, r *request) func(Report) {
	return func(report Report) {
		t.mu.Lock()
		defer t.mu.Unlock()
		asked := r.asked.Model
		t.used = t.used.Plus(minus(t.meter.metered(asked, report.Use), t.meter.metered(asked, r.use)))
		r.use = report.Use
		if name := report.Use.Unpriced; name != "" {
			t.unpriced = "field " + strconv.Quote(name) + " of its usage"
			t.warn(t.unpriced)
		}
		switch {
		case report.Unknown:
			t.used.Cost += r.unsettled
			t.meter.log.Warn(
				"request counted at the most it can have cost: its end is not known", "requestId", t.id, "turn", t.turn,
				"costUsd", r.unsettled.USD(),
			)
		case !report.Ended && report.Use.Begun():
			t.meter.begun(r, report)
		}
		if report.Ended {
			delete(t.open, r)
			close(t.changed)
			t.changed = make(chan struct{})
		}
		t.record()
		t.keepBooked(ctx)
	}
}
