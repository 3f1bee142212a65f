package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The chat of a job that waits for a limit is kept until the limit has ended, and as long as any chat after
// that, also if someone writes in it meanwhile.
func TestAJobThatWaitsForALimitKeepsItsChat(t *testing.T) {
	t.Parallel()
	const retention, week = time.Hour, 7 * 24 * time.Hour
	storetest.OnBoth(t, lifecycle.Options{Retention: retention, HumanTimeout: retention, QueueTimeout: retention}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		n := storetest.NewJob("u")
		n.SessionID = "chat"
		id := must.Get(s.Start(t.Context(), n))(t).ID
		s.Next(t, "n")
		say := func() {
			must.Get(s.AppendMessage(t.Context(), "u", "chat", job.Text(job.FromUser, "and use the blue one"), true))(t)
		}
		keeps := func(when string, least time.Duration) {
			t.Helper()
			for _, key := range rdb.Keys(t.Context(), "rb:{"+string(id[4:6])+"}:*").Val() {
				if strings.Contains(key, ":messages:") || strings.Contains(key, ":session:") {
					if left := rdb.PTTL(t.Context(), key).Val(); left < least {
						t.Errorf("%s, %s is kept for %s", when, key, left)
					}
				}
			}
		}
		say()
		must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{
			ID: id, Turn: 1, Node: "n", Begun: true, Spoken: true, Code: job.CodeUsageLimit, Message: "weekly limit",
			RateLimit: &lifecycle.RateLimit{Until: time.Now().Add(week), Stated: true},
		}))(t)
		keeps("while it waits", week+retention/2)
		say()
		keeps("after another message", week+retention/2)
	})
}
