package store_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The name of a session that a job has begun follows from its ID, and is not stored. Any other is.
func TestTheSessionOfAJob(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		for name, stored := range map[string]bool{"": false, "s1": true} {
			n := newJob("u")
			n.SessionID = name
			j := must.Get(s.Start(ctx, n))(t)
			want := name
			if want == "" {
				want = j.ID.OwnSession()
			}
			header, _, _, err := s.Calls.Header(ctx, j.ID)
			must.OK(t, err)
			must.Equal(t, []string{want, want, want}, []string{j.SessionID, header.SessionID, must.Get(s.Get(ctx, j.ID))(t).SessionID})
			if name == "" {
				must.Equal(t, []string{"u"}, must.Get(s.Chats.Users(ctx, want))(t), "users of "+want)
			}
			key := "rb:{" + string(j.ID[4:6]) + "}:job:" + string(j.ID)
			must.Equal(t, stored, rdb.HExists(ctx, key, "session").Val(), "stored")
		}
	})
}
