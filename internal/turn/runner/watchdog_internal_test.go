package runner

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/review"
	"ringback/test/must"
)

// The watchdog fires while something else happens to its turn: only one of both takes effect.
func TestAWatchdogThatFiresAsItsTurnGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, during func(*ownedTurn) error
		givesUp        bool
	}{
		"nothing happens":                          {givesUp: true},
		"the CLI has just printed its first line":  {before: func(o *ownedTurn) error { o.become(started); return nil }},
		"the CLI prints its first line meanwhile":  {during: func(o *ownedTurn) error { o.become(started); return nil }},
		"the turn has just ended":                  {before: func(o *ownedTurn) error { o.disown(); return nil }},
		"the turn ends meanwhile":                  {during: func(o *ownedTurn) error { o.disown(); return nil }},
		"the turn is given up meanwhile":           {during: func(o *ownedTurn) error { o.become(givenUp); return nil }},
		"the turn ended, and started and so on":    {before: func(o *ownedTurn) error { o.become(started); o.become(ended); o.become(started); return nil }},
		"the store is away":                        {during: func(*ownedTurn) error { return errors.New("connection refused") }},
		"the store is away, then the turn goes on": {during: func(o *ownedTurn) error { o.become(started); return errors.New("connection refused") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			embedded := must.Get(redisd.StartInProcess())(t)
			t.Cleanup(embedded.Close)
			s := storetest.New(t, embedded.Client, lifecycle.Options{UserLimit: 4})
			turn := claimed(t, s)
			r := runnerOf(t, s)
			r.left, r.sweeper = newCache[job.ID, bool](1), process.NewSweeper(r.log)
			r.ability.checkFunc, r.ability.log = func() error { return errors.New("the disk hangs") }, r.log
			_, o := r.own(t.Context(), turn.Job, nil, nil)
			o.timeout.Store(int64(time.Hour))
			if c.before != nil {
				must.OK(t, c.before(o))
			}
			during := c.during // the next call of the store
			embedded.Client.AddHook(storetest.Hook(func(do func() error, _ ...redis.Cmder) error {
				if now := during; now != nil {
					during = nil
					if err := now(o); err != nil {
						return err
					}
				}
				return do()
			}))
			o.giveUpUnlessStarted(t.Context())
			now := must.Get(s.Get(t.Context(), turn.Job.ID))(t)
			must.Equal(t, c.givesUp, now.State == job.Pending, "the job waits for another attempt")
			must.Equal(t, c.givesUp, r.Stalled() == 1, "a turn was given up")
			must.Equal(t, c.givesUp, !o.become(ended) && r.Stalled() == 1, "its own goroutine books no end")
		})
	}
}

// A server stops in time, though something hangs for good in one of its turns.
func TestAServerStopsThoughATurnHangs(t *testing.T) {
	t.Parallel()
	db, _ := storetest.InProcess(t, store.Options{NodeTimeout: time.Minute})
	jobs := lifecycle.New(db, storetest.Kinds(t), lifecycle.Options{UserLimit: 4})
	r := must.Get(New(db, jobs, nil, Options{
		ClaudeBin: "/no/claude", Environ: os.Environ(), Dir: t.TempDir(), Workers: 1, Stop: 50 * time.Millisecond,
		CheckFunc: func() error { return nil },
	}, slog.New(slog.DiscardHandler)))(t)
	hangs := make(chan struct{})
	t.Cleanup(func() { close(hangs) })
	r.turns.Go(func() { <-hangs })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	stopped := make(chan struct{})
	go func() {
		r.Run(ctx, ctx)
		close(stopped)
	}()
	must.Eventually(t, "the server to stop", func() bool { return isClosed(stopped) })
}

// What was to run is tried when a part of a turn has failed: git for a change, else the CLI.
func TestWhoseFaultItIsThatAPartOfATurnFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why, check, cli error
		gitFails        bool
		nodes, triesCLI bool
	}{
		"the CLI ended at once, and starts now":          {triesCLI: true},
		"the CLI ended at once, and does again":          {cli: errors.New("no"), nodes: true, triesCLI: true},
		"the disk is full":                               {check: errors.New("full"), nodes: true},
		"a clone failed, and git works":                  {why: &review.Error{Message: "no such repository"}},
		"a clone failed, and git does not work":          {gitFails: true, why: &review.Error{Message: "cannot fork"}, nodes: true},
		"a clone failed, and the disk is full":           {why: &review.Error{}, check: errors.New("full"), nodes: true},
		"the working directory could not be made":        {why: os.ErrPermission, triesCLI: true},
		"the working directory could not be made, again": {why: os.ErrPermission, cli: os.ErrPermission, nodes: true, triesCLI: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := trialRunner(t, "claude", os.Environ(), process.Sandbox{})
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.gitFails {
				end()
			}
			tried := false
			r.ability.checkFunc = func() error { return c.check }
			r.ability.trialFunc = func(context.Context, bool) error {
				tried = true
				return c.cli
			}
			must.Equal(t, c.nodes, r.isAtFault(ctx, job.Job{}, &slot{r: r}, c.why), "the node is at fault")
			must.Equal(t, c.triesCLI, tried, "the CLI was tried")
		})
	}
}
