package meter_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/meter"
	"ringback/internal/price"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/upstream"
)

// world is a store with a job, and a meter.
type world struct {
	*storetest.Service
	t     *testing.T
	meter *meter.Meter
	id    job.ID
	file  string
	log   *strings.Builder
}

// opus answers a request for a dollar.
var opus = upstream.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 200_000}}

func inWorld(t *testing.T, rdb redis.UniversalClient) world {
	t.Helper()
	log := &strings.Builder{}
	s := store.New(rdb, store.Options{}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	service := &storetest.Service{Store: s, Service: lifecycle.New(s, nil, lifecycle.Options{})}
	j, err := service.Start(t.Context(), lifecycle.NewJob{Kind: "k", UserID: "u1", Input: json.RawMessage("{}"), EventPrefix: "k", MaxAttempts: 1, CallbackTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := price.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return world{service, t, meter.New(s, prices, slog.New(slog.NewTextHandler(log, nil))), j.ID, filepath.Join(t.TempDir(), "turn-1.usage"), log}
}

func (w world) cost() float64 {
	w.t.Helper()
	j, err := w.Get(w.t.Context(), w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j.Usage.CostUSD
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// What was used is booked by itself, and what was not booked when the process died is booked
// by the next, once.
func TestUsageOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	first := w.meter.Turn(w.id, 1, w.file, meter.Limits{})
	begun := opus
	begun.Input = 100_000
	first.Used(upstream.Use{}, begun)
	first.Used(begun, opus)
	eventually(t, "the booking", func() bool { return w.cost() == 1 })
	for range 2 {
		again := w.meter.Turn(w.id, 1, w.file, meter.Limits{})
		if err := again.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	next := w.meter.Turn(w.id, 1, w.file, meter.Limits{})
	next.Used(upstream.Use{}, opus)
	if err := next.Close(t.Context()); err != nil || w.cost() != 2 {
		t.Errorf("the job has cost %v, %v", w.cost(), err)
	}
}

// A store that is away loses nothing, and holds up only the requests under a budget.
func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	w := inWorld(t, rdb)
	var away outage
	rdb.AddHook(&away)
	free := w.meter.Turn(w.id, 1, w.file, meter.Limits{})
	bound := w.meter.Turn(w.id, 2, w.file+"2", meter.Limits{Days: job.Spending{Server: 10 * price.Dollar}})
	away.Store(true)
	ended, err := free.Admit(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	free.Used(upstream.Use{}, opus)
	ended()
	if err := free.Close(t.Context()); err == nil {
		t.Error("a store that is away has booked")
	}
	admitted := make(chan error)
	go func() {
		_, err := bound.Admit(t.Context(), 1000)
		admitted <- err
	}()
	select {
	case err := <-admitted:
		t.Errorf("a request under a budget was admitted, %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	away.Store(false)
	if err := <-admitted; err != nil {
		t.Error(err)
	}
	eventually(t, "the booking", func() bool { return w.cost() == 1 })
}

// outage keeps commands from the store while it is true.
type outage struct{ atomic.Bool }

func (o *outage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if o.Load() {
			cmd.SetErr(net.ErrClosed)
			return net.ErrClosed
		}
		return next(ctx, cmd)
	}
}

func (o *outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A model without a price is logged once.
func TestUnknownModelsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	turn := w.meter.Turn(w.id, 1, w.file, meter.Limits{})
	for range 3 {
		turn.Used(upstream.Use{}, upstream.Use{Model: "claude-opus-77", Usage: price.Usage{Output: 1}})
	}
	if err := turn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.log.String(), "claude-opus-77"); n != 1 {
		t.Errorf("it was logged %d times: %s", n, w.log)
	}
}

// Requests at once, of turns of two nodes, pass a day's budget by one request of each turn at
// most, and are refused from then on.
func TestABudgetIsPassedByOneRequest(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	limits := meter.Limits{Days: job.Spending{User: 10 * price.Dollar}}
	var out sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for _, turn := range []*meter.Turn{w.meter.Turn(w.id, 1, w.file, limits), w.meter.Turn(w.id, 2, w.file+"2", limits)} {
		for range 8 {
			out.Go(func() {
				for {
					ended, err := turn.Admit(t.Context(), 1000)
					if err != nil {
						if used, ok := errors.AsType[*job.UsedBudget](err); !ok && turn.Refused() == nil || ok && used.Of != job.BudgetOfUser {
							t.Errorf("refused with %v", err)
						}
						return
					}
					mu.Lock()
					sent++
					mu.Unlock()
					time.Sleep(time.Millisecond)
					turn.Used(upstream.Use{}, opus)
					ended()
				}
			})
		}
	}
	out.Wait()
	if sent < 10 || sent > 11 {
		t.Errorf("%d requests of a dollar went out under a budget of 10", sent)
	}
}

// A request that its turn gives up waits no longer.
func TestAWaitingRequestIsGivenUp(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	turn := w.meter.Turn(w.id, 1, w.file, meter.Limits{Days: job.Spending{Kind: price.Dollar}})
	if _, err := turn.Admit(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := turn.Admit(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second request: %v", err)
	}
}

// BenchmarkRequest measures what a request waits for the meter, with a budget and without.
func BenchmarkRequest(b *testing.B) {
	rdb := storetest.PrivateRedis(b)
	s := store.New(rdb, store.Options{}, slog.New(slog.DiscardHandler))
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	j, err := lifecycle.New(s, nil, lifecycle.Options{}).Start(b.Context(), lifecycle.NewJob{Kind: "k", UserID: "u1", Input: json.RawMessage("{}"), EventPrefix: "k", MaxAttempts: 1, CallbackTimeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	prices, err := price.Load("")
	if err != nil {
		b.Fatal(err)
	}
	for name, limits := range map[string]meter.Limits{"free": {}, "under a budget": {Days: job.Spending{Server: 1e15}}} {
		b.Run(name, func(b *testing.B) {
			turn := meter.New(s, prices, slog.New(slog.DiscardHandler)).Turn(j.ID, 1, filepath.Join(b.TempDir(), "usage"), limits)
			for b.Loop() {
				ended, err := turn.Admit(b.Context(), 88_000)
				if err != nil {
					b.Fatal(err)
				}
				turn.Used(upstream.Use{}, upstream.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 10}})
				ended()
			}
		})
	}
}
