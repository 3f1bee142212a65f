package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/review"
	"ringback/test/must"
)

// failing is a step of a change that ends with an error.
type failing struct {
	review.Step
	err error
}

func (f failing) Run(context.Context) error { return f.err }

// A turn that this node no longer owns ends, at whatever point, without affecting the one
// that was started again under the same number. If it was the probe of a rate limit,
// another turn may be the probe immediately.
func TestALostTurnBooksNothing(t *testing.T) {
	t.Parallel()
	const account = "a"
	for name, cause := range map[string]error{
		"superseded": errSuperseded, "begun anew": errRestarted, "the store says so": fmt.Errorf("capturing: %w", lifecycle.ErrSuperseded),
	} {
		for where, end := range map[string]func(*Runner, *lifecycle.Turn){
			"before its process started": func(r *Runner, turn *lifecycle.Turn) { r.failedToStart(t.Context(), turn, &slot{r: r}, cause) },
			"in a step of a change": func(r *Runner, turn *lifecycle.Turn) {
				r.runStep(t.Context(), turn.Job, nil, failing{err: cause}, lifecycle.TurnEnd{ID: turn.Job.ID, Turn: turn.Job.Turn, Node: "n", Again: true}, &slot{r: r})
			},
		} {
			t.Run(name+", "+where, func(t *testing.T) {
				storetest.OnBoth(t, lifecycle.Options{UserLimit: 4}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
					turn := claimed(t, s)
					r := runnerOf(t, s)
					if err := s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) {
						l.Reach("req_other", lifecycle.ReachedRateLimit{Code: job.CodeOverloaded, Pauses: lifecycle.Pauses{First: time.Millisecond, Longest: time.Millisecond}})
					}); err != nil {
						t.Fatal(err)
					}
					for wait, err := time.Hour, error(nil); wait > 0; { // until the limit's end, by the store's clock
						if err = s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) { wait, _ = l.Wait() }); err != nil {
							t.Fatal(err)
						}
					}
					var ok, isTry bool
					if err := s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) { ok, isTry = l.Try(turn.Job.ID) }); !ok || !isTry || err != nil {
						t.Fatalf("it does not try: %v, %v", isTry, err)
					}
					r.rateLimits.probe.Store(&probe{turn.Job.ID, account})
					end(r, turn)
					now, err := s.Get(t.Context(), turn.Job.ID)
					if err != nil || now.State != job.Running || now.Attempt != 0 || now.LastFailure != nil {
						t.Errorf("the job is %s in attempt %d, after %v, %v", now.State, now.Attempt, now.LastFailure, err)
					}
					isTried := false
					err = s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) { _, isTried = l.Wait() })
					isProbe := r.rateLimits.probeOf(turn.Job.ID) != nil
					if keeps := errors.Is(cause, errRestarted); err != nil || isTried != keeps || isProbe != keeps {
						t.Errorf("a turn still tries: %v, in memory %v, %v; want %v", isTried, isProbe, err, keeps)
					}
				})
			})
		}
	}
}

// claimed returns a turn that has been started.
func claimed(t *testing.T, s *storetest.Service) *lifecycle.Turn {
	t.Helper()
	j, err := s.Start(t.Context(), lifecycle.NewJob{
		Kind: "k", UserID: "u", Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 3,
	})
	must.OK(t, err)
	turn, err := s.Claim(t.Context(), store.PartitionOf(j.ID), lifecycle.Worker{Node: "n"})
	if err != nil || turn == nil {
		t.Fatalf("nothing to begin: %v", err)
	}
	return turn
}

// A change that is delivered under the number of a turn that is only starting is not that turn's
// failure.
func TestATurnThatDeliversBeforeItStartsIsNoAttempt(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 4}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		turn := claimed(t, s)
		r := runnerOf(t, s)
		r.failedToStart(t.Context(), turn, &slot{r: r}, errDelivered)
		now, err := s.Get(t.Context(), turn.Job.ID)
		if err != nil || now.State != job.Pending || now.Attempt != 0 || now.LastFailure == nil {
			t.Errorf("the job is %s in attempt %d, after %v, %v", now.State, now.Attempt, now.LastFailure, err)
		}
	})
}

// runnerOf returns a runner that runs nothing.
func runnerOf(t *testing.T, s *storetest.Service) *Runner {
	t.Helper()
	ends := must.Get(lru.New[job.ID, int](1))(t)
	return &Runner{
		store: s.Store, jobs: s.Service, log: slog.New(slog.DiscardHandler), nodeDir: &nodeDir{node: "n"}, owned: map[job.ID]*ownedTurn{}, booked: ends,
		rateLimits: &rateLimits{},
	}
}

// A conversation of which this machine cannot read where it is, is not left for a new one: it was paid for.
func TestAConversationIsNotLeftBecauseANoteCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &Runner{log: slog.New(slog.DiscardHandler), opts: Options{Dir: dir}}
	must.OK(t, os.MkdirAll(filepath.Join(r.conversations(), "c"+atSuffix), 0o700)) // a directory in place of a file
	turn := &lifecycle.Turn{Job: job.Job{ID: "req_1", Turn: 2}, Begun: true, Conversation: "c", ConversationAt: "req_1/1"}
	must.Fail(t, r.bringConversation(t.Context(), turn), atSuffix)
	must.Equal(t, "c", turn.Conversation)
}

// A turn that was started before the one that found a limit gone ends at it: no job waits for it.
func TestALimitThatAnotherTurnHasFoundGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begun   time.Time
		returns bool
		// passes is set if the limit ends before the job waits for it.
		passes bool
	}{
		"the turn was started before":     {begun: time.Now().Add(-time.Hour)},
		"the turn was started afterwards": {begun: time.Now().Add(time.Hour), returns: true},
		"the limit returns, and ends":     {begun: time.Now().Add(time.Hour), returns: true, passes: true},
		"an earlier start has started it": {returns: true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.OnBoth(t, lifecycle.Options{UserLimit: 4}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
				const account = "account"
				turn, ends := claimed(t, s), time.Now().Add(5*24*time.Hour)
				err := s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) {
					l.Reach("req_a", lifecycle.ReachedRateLimit{Code: job.CodeUsageLimit, ResetsAt: ends})
				})
				must.OK(t, err)
				must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
				err = s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) { l.Try("req_b") })
				must.OK(t, err)
				must.Equal(t, true, must.Get(s.Limits.End(t.Context(), account, "req_b"))(t), "the limit ends")
				r := runnerOf(t, s)
				r.uses.change(turn.Job.ID, func(u *apiUse) { u.account, u.begun = account, c.begun })
				end := r.newTurnEnd(turn.Job.ID, turn.Job.Turn, lifecycle.Unfinished)
				end.Code, end.Begun = job.CodeUsageLimit, true
				end.RateLimit = r.reach(t.Context(), turn.Job.ID, end.Code, "used up", ends)
				must.Equal(t, c.returns, end.RateLimit.Stated, "the limit returns")
				if c.passes {
					must.OK(t, rdb.Del(t.Context(), "rb:{00}:limit:account").Err())
				}
				r.endTurn(t.Context(), end)
				must.OK(t, s.FireDue(t.Context(), store.PartitionOf(turn.Job.ID)))
				now := must.Get(s.Get(t.Context(), turn.Job.ID))(t)
				must.Equal(t, c.returns && !c.passes, now.Phase == job.WaitingForLimit, "the job waits")
			})
		})
	}
}

// The cost of a turn is added to the day while the job's next turn already has requests in flight: they are not over.
func TestALateBookingSettlesNothingOfTheNextTurn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 4}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		first := claimed(t, s)
		id, end := first.Job.ID, lifecycle.TurnEnd{ID: first.Job.ID, Turn: 1, Node: "n", Again: true, Usage: job.Usage{CostUSD: 1}}
		must.Get(s.EndTurn(t.Context(), end))(t)
		must.OK(t, s.FireDue(t.Context(), store.PartitionOf(id)))
		if next := must.Get(s.Claim(t.Context(), store.PartitionOf(id), lifecycle.Worker{Node: "n"}))(t); next == nil || next.Job.Turn != 2 {
			t.Fatalf("the next turn is %+v", next)
		}
		inFlight := store.Booking{Count: "c", Used: job.Metered{Unsettled: 5 * price.Dollar}}
		must.Get(s.Spending.Book(t.Context(), id, 2, inFlight))(t)
		must.Get(runnerOf(t, s).bookEnd(t.Context(), end, nil))(t)
		account := must.Get(s.Spending.Book(t.Context(), id, 2, inFlight))(t)
		must.Equal(t, price.Dollar, account.Spent.Job, "the cost of the job")
		must.Equal(t, price.Dollar, account.Spent.Server, "the cost of the day")
	})
}
