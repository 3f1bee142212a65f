package runner

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

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
				err := s.RateLimit(t.Context(), account, func(l *lifecycle.AccountLimit) {
					l.Reach("req_a", lifecycle.ReachedRateLimit{Code: job.CodeUsageLimit, ResetsAt: ends})
				})
				must.OK(t, err)
				must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
				err = s.RateLimit(t.Context(), account, func(l *lifecycle.AccountLimit) { l.Try("req_b") })
				must.OK(t, err)
				must.Equal(t, true, must.Get(s.EndRateLimit(t.Context(), account, "req_b"))(t), "the limit ends")
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
