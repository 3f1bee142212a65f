package model_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/model"
	"ringback/test/must"
)

// world is a store with a job, and a meter.
type world struct {
	*storetest.Service
	t     *testing.T
	rdb   redis.UniversalClient
	meter *model.Meter
	id    job.ID
	file  string
	log   *strings.Builder
}

// opus is a response that costs a dollar. Before it arrives, its request may cost 1.25 at
// most, of which 0.0125 is for its input.
var (
	opus    = model.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 200_000}}
	forOpus = model.Asked{Model: "claude-opus-5", Bytes: 2000, MaxOutput: 49_500, Stream: true}
)

// admit admits a request.
func admit(t *testing.T, turn *model.Turn, asked model.Asked) func(model.Report) {
	t.Helper()
	return must.Get(turn.Admit(t.Context(), asked))(t)
}

// request admits a request and reports its response.
func request(t *testing.T, turn *model.Turn, use model.Use) {
	t.Helper()
	admit(t, turn, forOpus)(model.Report{Use: use, Ended: true})
}

func inWorld(t *testing.T, rdb redis.UniversalClient) world {
	t.Helper()
	storetest.SetTimeOfDay(t, rdb, storetest.Noon)
	log := &strings.Builder{}
	s := storetest.New(t, rdb, lifecycle.Options{})
	j := must.Get(s.Start(t.Context(), storetest.NewJob("u1")))(t)
	prices := must.Get(price.Load(""))(t)
	return world{s, t, rdb, model.NewMeter(s.Store, prices, slog.New(slog.NewTextHandler(log, nil))), j.ID, filepath.Join(t.TempDir(), "turn-1.usage"), log}
}

func (w world) cost() float64 {
	w.t.Helper()
	j := must.Get(w.Get(w.t.Context(), w.id))(w.t)
	return j.Usage.CostUSD
}

// key returns one of the job's keys.
func (w world) key(name string) string {
	return fmt.Sprintf("rb:{%02x}:%s:%s", int(store.PartitionOf(w.id)), name, w.id)
}

// unsettled returns what the job's turns cost according to the store if nothing more is
// heard of their requests; false if none is in flight.
func (w world) unsettled() (float64, bool) {
	open := w.rdb.HGet(w.t.Context(), w.key("metered"), "open").Val()
	_, most, isOut := strings.Cut(open, " ")
	if !isOut {
		return 0, false
	}
	n, _ := strconv.ParseInt(strings.Fields(most)[0], 10, 64)
	return price.Nano(n).USD(), true
}

// Usage is booked automatically; what was not booked when the process died is booked once
// by the next.
func TestUsageOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	first := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	begun := opus
	begun.Input = 100_000
	report := admit(t, first, forOpus)
	report(model.Report{Use: begun})
	report(model.Report{Use: opus, Ended: true})
	must.Eventually(t, "the booking", func() bool { return w.cost() == 1 })
	for range 2 {
		again := w.meter.Turn(w.id, 1, w.file, model.Limits{})
		must.OK(t, again.Close(t.Context()))
	}
	next := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	request(t, next, opus)
	if err := next.Close(t.Context()); err != nil || w.cost() != 2 {
		t.Errorf("the job has cost %v, %v", w.cost(), err)
	}
}

// An unavailable store loses nothing, and delays only requests under a budget.
func TestTheStoreIsAway(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	w := inWorld(t, rdb)
	var away atomic.Bool
	rdb.AddHook(storetest.Hook(func(do func() error, _ ...redis.Cmder) error {
		if away.Load() {
			return net.ErrClosed
		}
		return do()
	}))
	free := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	bound := w.meter.Turn(w.id, 2, w.file+"2", model.Limits{Days: job.Spending{Server: 10 * price.Dollar}})
	away.Store(true)
	request(t, free, opus)
	if err := free.Close(t.Context()); err == nil {
		t.Error("a store that is away has booked")
	}
	admitted := make(chan error)
	go func() {
		_, err := bound.Admit(t.Context(), forOpus)
		admitted <- err
	}()
	select {
	case err := <-admitted:
		t.Errorf("a request under a budget was admitted, %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	away.Store(false)
	must.OK(t, <-admitted)
	must.Eventually(t, "the booking", func() bool { return w.cost() == 1 })
}

// A model without a price is logged once.
func TestUnknownModelsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	turn := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	for range 3 {
		request(t, turn, model.Use{Model: "claude-opus-77", Usage: price.Usage{Output: 1}})
	}
	must.OK(t, turn.Close(t.Context()))
	must.Equal(t, 1, strings.Count(w.log.String(), "claude-opus-77"), "it was logged … times", w.log)
}

// A turn under a budget must not use what has no price. The log says so once.
func TestWhatHasNoPriceIsRefusedUnderABudget(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	oracle := forOpus
	oracle.Unpriced = `tool "oracle_20300101"`
	odd := opus
	odd.Unpriced = "moon_tokens"
	free := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	bound := w.meter.Turn(w.id, 2, w.file+"2", model.Limits{Days: job.Spending{Server: 100 * price.Dollar}})
	for range 2 {
		admit(t, free, oracle)(model.Report{Use: odd, Ended: true})
		_, err := bound.Admit(t.Context(), oracle)
		must.Fail(t, err, `does not know what the model's API charges for the tool "oracle_20300101"`)
	}
	request(t, bound, odd)
	_, err := bound.Admit(t.Context(), forOpus)
	must.Fail(t, err, `field "moon_tokens" of its usage`)
	must.Equal(t, 2, strings.Count(w.log.String(), "no price is known"), "it was logged … times", w.log)
}

// Each inference is charged at the price of its model, at the dearer of two if the API does not name it.
func TestInferencesCostWhatTheirModelsCost(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	turn := w.meter.Turn(w.id, 1, w.file, model.Limits{})
	million := price.Usage{Input: 1_000_000}
	asked := model.Asked{Model: "claude-opus-5", Bytes: 1, MaxOutput: 1}                                                        // 5 dollars
	admit(t, turn, asked)(model.Report{Use: model.Use{Model: "claude-haiku-4-5", Usage: million, Iterations: []model.Iteration{ // 1 dollar
		{Model: "claude-fable-5", Usage: million}, {Usage: million}, // 10 dollars
	}}, Ended: true})
	must.OK(t, turn.Close(t.Context()))
	must.Equal(t, 1+10+5.0, w.cost())
	must.Equal(t, 3_000_000, turn.Total().InputTokens)
}

// Concurrent requests of jobs on two nodes exceed a daily budget by one request in total,
// and are rejected from then on.
func TestABudgetIsPassedByOneRequest(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	limits := model.Limits{Days: job.Spending{User: 10 * price.Dollar}}
	ofOther := storetest.NewJob("u1")
	ofOther.Kind = "other"
	other := must.Get(w.Start(t.Context(), ofOther))(t)
	var out sync.WaitGroup
	var sent atomic.Int64
	for _, turn := range []*model.Turn{w.meter.Turn(w.id, 1, w.file, limits), w.meter.Turn(other.ID, 1, w.file+"2", limits)} {
		for range 8 {
			out.Go(func() {
				for {
					report, err := turn.Admit(t.Context(), forOpus)
					if err != nil {
						if used, ok := errors.AsType[*job.UsedBudget](err); !ok || used.Of != job.BudgetOfUser {
							t.Errorf("refused with %v", err)
						}
						return
					}
					sent.Add(1)
					report(model.Report{Use: opus})
					report(model.Report{Use: opus, Ended: true})
				}
			})
		}
	}
	out.Wait()
	must.Equal(t, 10, sent.Load(), "requests of a dollar went out under a budget of 10")
}

// The requests that a lost server had in flight count at their maximum cost before the next
// request is sent: for the turn's next server, for the next turn on another node, and for
// the day. The amount is as exact as the API's reports.
func TestWhatALostServerHadOutCounts(t *testing.T) {
	t.Parallel()
	asksFor := model.Asked{Model: "claude-opus-5", Bytes: 80_000, MaxOutput: 20_000, Stream: true} // 0.50, and 0.50 for the response
	whole := asksFor
	whole.Stream = false
	begun := model.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 20_000}} // 0.10
	searching, huge := asksFor, asksFor
	searching.Repeats = true
	huge.Media = 30_000_000
	advised := searching
	advised.Hidden, advised.Other = true, "claude-fable-5" // twice as dear
	for name, c := range map[string]struct {
		asks   model.Asked
		report []model.Report
		want   float64
	}{
		"not answered":            {asksFor, nil, 0.5},
		"not answered as stream":  {whole, nil, 1},
		"begun":                   {asksFor, []model.Report{{Use: begun}}, 0.1},
		"some of it":              {asksFor, []model.Report{{Use: begun}, {Use: begun, Written: 4000}}, 0.2},
		"unknown":                 {asksFor, []model.Report{{Ended: true, Unknown: true}}, 0.5},
		"unknown as no stream":    {whole, []model.Report{{Ended: true, Unknown: true}}, 1},
		"unknown with searches":   {searching, []model.Report{{Use: begun}, {Use: begun, Written: 4000}, {Use: begun, Ended: true, Unknown: true}}, 0.2 + 9*0.5},
		"unknown with an advisor": {advised, []model.Report{{Use: begun}, {Use: begun, Ended: true, Unknown: true}}, 0.1 + 9*1 + 1},
		"more than a model reads": {huge, []model.Report{{Ended: true, Unknown: true}}, 6.25},
		"refused by the API":      {asksFor, []model.Report{{Ended: true}}, 0},
		"answered":                {asksFor, []model.Report{{Use: begun}, {Use: begun, Written: 4000}, {Use: opus, Ended: true}}, 1},
	} {
		for node, next := range map[string]func(w world, limits model.Limits) *model.Turn{
			"the turn's next server": func(w world, l model.Limits) *model.Turn { return w.meter.Turn(w.id, 1, w.file, l) },
			"one without its files":  func(w world, l model.Limits) *model.Turn { return w.meter.Turn(w.id, 1, w.file+"-elsewhere", l) },
			"the next turn": func(w world, l model.Limits) *model.Turn {
				must.OK(w.t, w.rdb.HSet(w.t.Context(), w.key("job"), "turn", 2).Err())
				return w.meter.Turn(w.id, 2, w.file+"-elsewhere", l)
			},
		} {
			t.Run(name+", "+node, func(t *testing.T) {
				t.Parallel()
				w := inWorld(t, storetest.PrivateRedis(t))
				limits := model.Limits{Days: job.Spending{Server: 100 * price.Dollar, User: 100 * price.Dollar}}
				lost := w.meter.Turn(w.id, 1, w.file, limits)
				report := admit(t, lost, c.asks)
				settled := c.want == 0.1 // nothing has been written yet
				for _, r := range c.report {
					report(r)
					settled = settled || r.Ended
				}
				must.Eventually(t, "the booking", func() bool {
					most, isOut := w.unsettled()
					return settled && !isOut && w.cost() == c.want || !settled && isOut && most == c.want
				})
				again := next(w, limits)
				for range 2 {
					admit(t, again, forOpus)(model.Report{Ended: true})
				}
				if err := again.Close(t.Context()); err != nil || w.cost() != c.want {
					t.Errorf("the job has cost %v, want %v; %v", w.cost(), c.want, err)
				}
				if day, err := w.SpentToday(t.Context(), "k", "u1"); err != nil || day.User.USD() != c.want || day.Server != day.User {
					t.Errorf("the day has cost %+v, %v", day, err)
				}
			})
		}
	}
}

// A request that its turn aborts stops waiting.
func TestAWaitingRequestIsGivenUp(t *testing.T) {
	t.Parallel()
	w := inWorld(t, storetest.PrivateRedis(t))
	turn := w.meter.Turn(w.id, 1, w.file, model.Limits{Days: job.Spending{Kind: price.Dollar}})
	admit(t, turn, forOpus)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := turn.Admit(ctx, forOpus); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second request: %v", err)
	}
}

// BenchmarkBookedRequest measures how long the meter delays a request, with and without a budget.
func BenchmarkBookedRequest(b *testing.B) {
	rdb := storetest.PrivateRedis(b)
	s := storetest.New(b, rdb, lifecycle.Options{})
	j := must.Get(s.Start(b.Context(), storetest.NewJob("u1")))(b)
	prices := must.Get(price.Load(""))(b)
	for name, limits := range map[string]model.Limits{"free": {}, "under a budget": {Days: job.Spending{Server: 1e15}}} {
		b.Run(name, func(b *testing.B) {
			turn := model.NewMeter(s.Store, prices, slog.New(slog.DiscardHandler)).Turn(j.ID, 1, filepath.Join(b.TempDir(), "usage"), limits)
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				report := must.Get(turn.Admit(b.Context(), model.Asked{Model: "claude-opus-5", Bytes: 88_000, MaxOutput: 32_000, Stream: true}))(b)
				report(model.Report{Use: model.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 10}}})
				report(model.Report{Use: model.Use{Model: "claude-opus-5", Usage: price.Usage{Input: 10, Output: 1}}, Ended: true})
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}
