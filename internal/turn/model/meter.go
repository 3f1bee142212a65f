package model

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/store"
)

// Meter counts the usage of the turns on a node.
type Meter struct {
	store  *store.Store
	prices *price.Table
	log    *slog.Logger

	mu sync.Mutex
	// unknown are the models and features without a price that have been logged.
	unknown map[string]bool
}

// NewMeter returns a meter.
func NewMeter(s *store.Store, prices *price.Table, log *slog.Logger) *Meter {
	return &Meter{store: s, prices: prices, log: log, unknown: map[string]bool{}}
}

// maxUnknown limits how many of them are logged.
const maxUnknown = 100

func (m *Meter) price(model string, u price.Usage) price.Nano {
	cost, known := m.prices.Cost(model, u)
	if !known && model != AnyModel {
		m.warnOnce(
			model, "model has no price: charged at the highest price of its family", "model", model,
			"hint", "Add it to the table that PRICES_FILE names.",
		)
	}
	return cost
}

// warnOnce logs something that has no price, the first time.
func (m *Meter) warnOnce(name, message string, fields ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.unknown[name] && len(m.unknown) < maxUnknown {
		m.unknown[name] = true
		m.log.Warn(message, fields...)
	}
}

// Turn is the meter of one turn.
type Turn struct {
	meter  *Meter
	id     job.ID
	turn   int
	limits Limits

	// count identifies this server's count of the turn.
	count string
	// storing is held while a request is admitted or the turn is booked, so that an earlier state never
	// overwrites a later one.
	storing sync.Mutex

	mu   sync.Mutex
	file *os.File
	// used is the turn's usage so far, and booked the usage in the store since bookedAt, including what is
	// unsettled.
	used, booked job.Metered
	bookedAt     time.Time
	// isBooking is true while book runs.
	isBooking bool
	// open contains the requests in flight.
	open    map[*request]bool
	refused *job.UsedBudget
	// unpriced is something without a price that the API has charged; "" for nothing.
	unpriced string
	// changed is closed and replaced when a request ends.
	changed chan struct{}
}

// Limits are the budgets of a turn's requests.
type Limits struct {
	// Days are the daily budgets. The job's own is in its record, because a person may
	// raise it.
	Days job.Spending
	// OwnBudget is true if the job has its own budget.
	OwnBudget bool
}

// None reports whether there is no budget.
func (l Limits) None() bool { return !l.OwnBudget && l.Days == job.Spending{} }

func (l Limits) of(a store.Account) job.Spending {
	budgets := l.Days
	budgets.Job = a.Budget
	return budgets
}

// UsedUp returns the budget that is used up; nil if none is.
func (l Limits) UsedUp(a store.Account) *job.UsedBudget { return l.of(a).UsedUp(a.Spent, a.Day) }

// Turn returns the meter of a turn, which continues from the state in its file.
func (m *Meter) Turn(id job.ID, turn int, file string, limits Limits) *Turn {
	t := &Turn{
		meter: m, id: id, turn: turn, limits: limits, count: rand.Text(),
		used: read(file), open: map[*request]bool{}, changed: make(chan struct{}),
	}
	var err error
	if t.file, err = untrusted.AppendTo(file); err != nil { // stored only then
		m.log.Warn("could not open the record of a turn's usage", "requestId", id, "turn", turn, "error", err)
	}
	return t
}

// Exists reports whether a turn was metered, by its file.
func Exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// maxRecord limits the size of the record of a turn, in bytes.
const maxRecord = 256 << 20

// read returns the last complete line of a file. What a previous server left unsettled
// counts as used.
func read(file string) (used job.Metered) {
	text, err := untrusted.ReadFile(file, maxRecord)
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

// record appends the state of the turn to its file. t.mu is held.
func (t *Turn) record() {
	if t.file != nil {
		if _, err := t.file.Write(append(job.MustJSON(t.now()), '\n')); err != nil {
			t.meter.log.Warn("could not record a turn's usage", "requestId", t.id, "turn", t.turn, "error", err)
		}
	}
}

// now returns the turn's usage so far, including what is unsettled. t.mu is held.
func (t *Turn) now() job.Metered {
	now := t.used
	for r := range t.open {
		now.Unsettled += r.unsettled
	}
	return now
}

// metered returns the usage of a request in the form in which it is booked. asked is the model that it
// names.
func (m *Meter) metered(asked string, u Use) (sum job.Metered) {
	if !u.None() {
		sum = m.inference(u.Model, u.Usage)
	}
	for _, i := range u.Iterations {
		one := m.inference(cmp.Or(i.Model, u.Model), i.Usage)
		if i.Model == "" && asked != u.Model { // it may be by either
			one.Cost = max(one.Cost, m.price(asked, i.Usage))
		}
		sum = sum.Plus(one)
	}
	return sum
}

// inference returns the usage of one call of a model in the form in which it is booked.
func (m *Meter) inference(model string, u price.Usage) job.Metered {
	return job.Metered{
		InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output,
		CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, Cost: m.price(model, u),
	}
}

// minus returns how far a exceeds b, and never goes below zero: what was counted stays counted.
func minus(a, b job.Metered) job.Metered {
	return job.Metered{
		InputTokens: max(0, a.InputTokens-b.InputTokens), OutputTokens: max(0, a.OutputTokens-b.OutputTokens),
		CacheReadTokens: max(0, a.CacheReadTokens-b.CacheReadTokens), CacheWriteTokens: max(0, a.CacheWriteTokens-b.CacheWriteTokens),
		Cost: max(0, a.Cost-b.Cost),
	}
}

const (
	// storeTimeout is the timeout of a call to the store, and retryInterval the pause before a
	// retry, and before each background booking.
	storeTimeout  = 5 * time.Second
	retryInterval = 500 * time.Millisecond
	// giveUp is the maximum time to retry a background booking. After that, the next
	// request, the end of the turn, or the next start of the server books the rest.
	giveUp = time.Minute
	// refreshInterval is the interval at which requests in flight are booked again, because
	// they expire in the store.
	refreshInterval = 30 * time.Second
)

// keepBooked books the turn in the background until everything is booked and no request is in flight. t.mu is
// held.
func (t *Turn) keepBooked(ctx context.Context) {
	if !t.isBooking {
		t.isBooking = true
		go t.book(context.WithoutCancel(ctx)) // a booking outlives its request
	}
}

func (t *Turn) book(ctx context.Context) {
	until := time.Now().Add(giveUp)
	for {
		time.Sleep(retryInterval)
		t.mu.Lock()
		isBooked, isFresh := t.now() == t.booked, time.Since(t.bookedAt) < refreshInterval
		isOver := len(t.open) == 0 && (isBooked || time.Now().After(until))
		t.isBooking = !isOver
		t.mu.Unlock()
		switch {
		case isOver:
			return
		case isBooked && isFresh:
			continue
		}
		if t.flush(ctx) == nil {
			until = time.Now().Add(giveUp)
		}
	}
}

// flush books the state of the turn.
func (t *Turn) flush(ctx context.Context) error {
	t.storing.Lock()
	defer t.storing.Unlock()
	_, err := t.flushLocked(ctx)
	return err
}

// flushLocked is flush while t.storing is held. It returns the account of the job.
func (t *Turn) flushLocked(ctx context.Context) (store.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	t.mu.Lock()
	b := store.Booking{Count: t.count, Used: t.now()}
	if t.limits.Days != (job.Spending{}) {
		b.Most = t.most()
	}
	t.mu.Unlock()
	account, err := t.meter.store.Spending.Book(ctx, t.id, t.turn, b)
	if err != nil {
		return account, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.booked, t.bookedAt = b.Used, time.Now()
	if account.Turn > 0 { // another server's count is in the store: continue from it
		more := minus(account.Used, b.Used)
		t.used, t.booked = t.used.Plus(more), t.booked.Plus(more)
	}
	return account, nil
}

// Total returns the turn's usage so far.
func (t *Turn) Total() job.Metered {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used
}

// lastWords is the maximum wait at the end of a turn for requests that are being aborted.
const lastWords = 2 * time.Second

// Close books the turn's whole usage, after its process has ended. Its error is Unavailable
// if the store is.
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
	err := t.flush(ctx)
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

// Refused returns the budget that the last rejected request would have exceeded; nil for
// none.
func (t *Turn) Refused() *job.UsedBudget {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}
