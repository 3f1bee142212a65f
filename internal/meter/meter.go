// Package meter counts what the requests of turns to the model's API use, books it, and lets
// a request out only while no budget is used up.
//
// What a turn has used so far is appended to a file before the turn gets to see it, so that
// it is not lost with the server. From there it is booked in the store, which may be away for
// a while, each time as what the whole turn has used: to book it again changes nothing. With it
// goes what the requests that have not ended may have cost. If the server is lost, they count
// as that: the file is read by the turn's next server, the store by the job's next turn.
package meter

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
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
	return m.price(u.Model, u.Usage)
}

// price is the price of a use. It logs a model without one.
func (m *Meter) price(model string, u price.Usage) price.Nano {
	cost, known := m.prices.Cost(model, u)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !known && !m.unknown[model] && len(m.unknown) < maxUnknown {
		m.unknown[model] = true
		m.log.Warn("model has no price: charged at the highest price of its family", "model", model, "hint", "Add it to the table that PRICES_FILE names.")
	}
	return cost
}

// Turn is the meter of one turn.
type Turn struct {
	meter  *Meter
	id     job.ID
	turn   int
	limits Limits

	// count names this server's count of the turn.
	count string
	// flushing is held while the turn is booked, so that a later state is never followed by an
	// earlier one, and admitting while it is decided on a request.
	flushing, admitting chan struct{}

	mu   sync.Mutex
	file *os.File
	// used is what the turn has used so far, and booked what the store knows of it, with what is
	// unsettled.
	used, booked job.Metered
	booking      bool
	// open are the requests that are out.
	open    map[*request]bool
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
	t := &Turn{
		meter: m, id: id, turn: turn, limits: limits, count: rand.Text(), flushing: make(chan struct{}, 1), admitting: make(chan struct{}, 1),
		used: read(file), open: map[*request]bool{}, changed: make(chan struct{}),
	}
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

// read returns what the last whole line of a file says. What another server of the turn has
// left unsettled is used.
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
	used.Cost, used.Unsettled = used.Cost+used.Unsettled, 0
	return used
}

// note records how the turn stands, and has it booked.
func (t *Turn) note() {
	t.record()
	if !t.booking {
		t.booking = true
		go t.book()
	}
}

// record appends how the turn stands to its file.
func (t *Turn) record() {
	if t.file != nil {
		line, _ := json.Marshal(t.now()) //nolint:errchkjson // numbers
		if _, err := t.file.Write(append(line, '\n')); err != nil {
			t.meter.log.Warn("could not record a turn's usage", "requestId", t.id, "turn", t.turn, "error", err)
		}
	}
}

// now is what the turn has used so far, with what is unsettled.
func (t *Turn) now() job.Metered {
	now := t.used
	for r := range t.open {
		now.Unsettled += r.unsettled
	}
	return now
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
	// refreshInterval is how often requests that are out are booked again: they lapse in the
	// store.
	refreshInterval = 30 * time.Second
)

// book books in the background until nothing is left to book.
func (t *Turn) book() {
	until := time.Now().Add(giveUp)
	for {
		_, err := t.flush(context.Background())
		t.mu.Lock()
		if err == nil && t.now() == t.booked || time.Now().After(until) {
			t.booking = false
			if len(t.open) > 0 {
				time.AfterFunc(refreshInterval, t.refresh)
			}
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		if err != nil {
			time.Sleep(retryInterval)
		}
	}
}

// refresh books requests that are out again.
func (t *Turn) refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) > 0 && !t.booking {
		t.booking = true
		go t.book()
	}
}

// flush books how the turn stands, and returns how the job does.
func (t *Turn) flush(ctx context.Context) (store.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	select {
	case t.flushing <- struct{}{}:
		defer func() { <-t.flushing }()
	case <-ctx.Done():
		return store.Account{}, ctx.Err()
	}
	t.mu.Lock()
	b := store.Booking{Count: t.count, Used: t.now()}
	if t.limits.Days != (job.Spending{}) {
		b.Most = t.most()
	}
	t.mu.Unlock()
	account, err := t.meter.store.BookUsage(ctx, t.id, t.turn, b)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.booked = b.Used
		if account.Turn > 0 { // what the store has from another count, this one goes on from
			more := count{account.Used}.minus(count{b.Used})
			t.used, t.booked = t.used.Plus(more.Metered), t.booked.Plus(more.Metered)
		}
	}
	return account, err
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
		open, changed := len(t.open), t.changed
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
	_, err := t.flush(ctx)
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
