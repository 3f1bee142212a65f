// Package meter counts what the requests of turns to the model's API use, books it, and lets
// a request out only while no budget is used up.
//
// What a turn has used so far is appended to a file before the turn gets to see it, so that
// it is not lost with the server. From there it is booked in the store, which may be away for
// a while, each time as what the whole turn has used: to book it again changes nothing.
package meter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/price"
	"ringback/internal/store"
	"ringback/internal/upstream"
)

// Meter meters the turns of a node.
type Meter struct {
	store  *store.Store
	prices *price.Table
	log    *slog.Logger

	mu sync.Mutex
	// unknown are the models without a price that were logged.
	unknown map[string]bool
}

// New returns a meter.
func New(s *store.Store, prices *price.Table, log *slog.Logger) *Meter {
	return &Meter{store: s, prices: prices, log: log, unknown: map[string]bool{}}
}

// maxUnknown bounds how many models are logged.
const maxUnknown = 100

// cost is the price of what a request has used.
func (m *Meter) cost(u upstream.Use) price.Nano {
	if u == (upstream.Use{}) { // the API has said nothing yet
		return 0
	}
	cost, known := m.prices.Cost(u.Model, u.Usage)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !known && !m.unknown[u.Model] && len(m.unknown) < maxUnknown {
		m.unknown[u.Model] = true
		m.log.Warn("model has no price: charged at the highest price of its family", "model", u.Model, "hint", "Add it to the table that PRICES_FILE names.")
	}
	return cost
}

// Turn is the meter of one turn.
type Turn struct {
	meter  *Meter
	id     job.ID
	turn   int
	limits Limits

	mu   sync.Mutex
	file *os.File
	// used is what the turn has used so far, and booked what of it is in the store.
	used, booked job.Metered
	booking      bool
	// open counts the requests that are out, and most is what they cost at most.
	open    int
	most    price.Nano
	refused *job.UsedBudget
	// changed is closed and replaced when a request ends.
	changed chan struct{}
}

// Limits are the budgets under which a turn's requests go out.
type Limits struct {
	// Days are the budgets of a day. The job's own is in its record: a person may raise it.
	Days job.Spending
	// OwnBudget is true if the job has one.
	OwnBudget bool
}

// None reports whether there is no budget.
func (l Limits) None() bool { return !l.OwnBudget && l.Days == job.Spending{} }

// of is all budgets of a job.
func (l Limits) of(a store.Account) job.Spending {
	budgets := l.Days
	budgets.Job = a.Budget
	return budgets
}

// UsedUp returns the budget that is used up; nil for none.
func (l Limits) UsedUp(a store.Account) *job.UsedBudget { return l.of(a).UsedUp(a.Spent) }

// Turn returns the meter of a turn, which goes on from what its file says.
func (m *Meter) Turn(id job.ID, turn int, file string, limits Limits) *Turn {
	t := &Turn{meter: m, id: id, turn: turn, limits: limits, used: read(file), changed: make(chan struct{})}
	var err error
	if t.file, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil { // the store alone has to do
		m.log.Warn("could not open the record of a turn's usage", "requestId", id, "turn", turn, "error", err)
	}
	return t
}

// Exists reports whether a turn was metered, by its file.
func Exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// read returns what the last whole line of a file says.
func read(file string) (used job.Metered) {
	text, err := os.ReadFile(file)
	if err != nil {
		return used
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var line job.Metered
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			used = line
		}
	}
	return used
}

// Used adds what a request has used since it was last told.
func (t *Turn) Used(was, is upstream.Use) {
	more := metered(is, t.meter.cost(is)).minus(metered(was, t.meter.cost(was)))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used = t.used.Plus(more.Metered)
	if t.file != nil {
		line, _ := json.Marshal(t.used) //nolint:errchkjson // numbers
		if _, err := t.file.Write(append(line, '\n')); err != nil {
			t.meter.log.Warn("could not record a turn's usage", "requestId", t.id, "turn", t.turn, "error", err)
		}
	}
	if !t.booking {
		t.booking = true
		go t.book()
	}
}

// count is a difference of two counts.
type count struct{ job.Metered }

func metered(u upstream.Use, cost price.Nano) count {
	return count{job.Metered{
		InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, Cost: cost,
	}}
}

// minus never falls below zero: what was counted stays.
func (c count) minus(o count) count {
	return count{job.Metered{
		InputTokens: max(0, c.InputTokens-o.InputTokens), OutputTokens: max(0, c.OutputTokens-o.OutputTokens),
		CacheReadTokens: max(0, c.CacheReadTokens-o.CacheReadTokens), CacheWriteTokens: max(0, c.CacheWriteTokens-o.CacheWriteTokens), Cost: max(0, c.Cost-o.Cost),
	}}
}

const (
	// storeTimeout bounds a call of the store, and retryInterval is the pause before another.
	storeTimeout  = 5 * time.Second
	retryInterval = 500 * time.Millisecond
	// giveUp is for how long a booking in the background is tried. What is left then is booked
	// with the next request, with the end of the turn, or by the next start of the server.
	giveUp = time.Minute
)

// book books in the background until nothing is left to book.
func (t *Turn) book() {
	until := time.Now().Add(giveUp)
	for {
		_, _, err := t.flush(context.Background())
		t.mu.Lock()
		if err == nil && t.used == t.booked || time.Now().After(until) {
			t.booking = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		if err != nil {
			time.Sleep(retryInterval)
		}
	}
}

// flush books what was used so far, and returns it and how the job stands.
func (t *Turn) flush(ctx context.Context) (job.Metered, store.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	used := t.Total()
	account, err := t.meter.store.BookUsage(ctx, t.id, t.turn, used)
	if err == nil {
		t.mu.Lock()
		t.booked = used
		t.mu.Unlock()
	}
	return used, account, err
}

// Total is what the turn has used so far.
func (t *Turn) Total() job.Metered {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used
}

// lastWords is how long the end of a turn waits for requests that are being broken off.
const lastWords = 2 * time.Second

// Close books all that the turn has used. Its process is gone by then. Error: Unavailable
// while the store is away.
func (t *Turn) Close(ctx context.Context) error {
	for ends := time.After(lastWords); ; {
		t.mu.Lock()
		open, changed := t.open, t.changed
		t.mu.Unlock()
		if open == 0 {
			break
		}
		select {
		case <-changed:
			continue
		case <-ends:
		}
		break
	}
	_, _, err := t.flush(ctx)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.file != nil {
			_ = t.file.Close()
			t.file = nil
		}
	}
	return err
}

// Refused returns the budget for which a request of the turn was refused last; nil for none.
func (t *Turn) Refused() *job.UsedBudget {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}
