package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

func newJob(user string) lifecycle.NewJob { return storetest.NewJob(user) }

func TestReplayTellsWhatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		for i := range 9 {
			must.Get(s.Calls.Progress(ctx, j.ID, store.JobHeader{UserID: "u"}, json.RawMessage(`{}`), fmt.Sprintf("digest-%05d", i)))(t)
		}
		all, err := s.Events.OfUser(ctx, "u", 0, 100)
		if err != nil || all.Missed || len(all.Events) != 10 {
			t.Fatalf("%d events, missed %t, %v", len(all.Events), all.Missed, err)
		}
		stream := keysLike(t, rdb, "*:events:u")
		must.OK(t, rdb.XTrimMaxLen(ctx, stream, 4).Err())
		id := func(i int) job.Seq { return all.Events[i].Seq }
		for since, missed := range map[job.Seq]bool{
			0: true, id(9): false, id(5): false, id(4): true, id(0): true, // the sixth is the last that is not kept
			id(9) + 1: true, id(7) + 1: true, id(0) - 1000: true, // such events never existed
		} {
			got, err := s.Events.OfUser(ctx, "u", since, 100)
			if err != nil || got.Missed != missed {
				t.Errorf("since %d (the last is %d): missed %t, want %t, %v", since, id(9), got.Missed, missed, err)
			}
		}
	})
}

// However long its reports, a job cannot fill the store with its events: fewer of them are kept.
func TestLongEventsAreKeptInSmallerNumber(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		for user, c := range map[string]struct{ length, reports, atLeast, atMost int }{
			"short reports": {10, 1000, 1001, 1001}, "reports of 20 KB": {20_000, 500, 200, 350}, "reports of 200 KB": {200_000, 250, 200, 240},
		} {
			j := must.Get(s.Start(ctx, newJob(user)))(t)
			text := must.Get(json.Marshal(map[string]string{"message": strings.Repeat("x", c.length)}))(t)
			for i := range c.reports {
				must.Get(s.Calls.Progress(ctx, j.ID, store.JobHeader{UserID: user}, text, fmt.Sprintf("digest-%05d", i)))(t)
			}
			if kept := rdb.XLen(ctx, keysLike(t, rdb, "*:events:"+user)).Val(); kept < int64(c.atLeast) || kept > int64(c.atMost) {
				t.Errorf("%s: %d events are kept, want %d to %d", user, kept, c.atLeast, c.atMost)
			}
		}
	})
}

func keysLike(t *testing.T, rdb redis.UniversalClient, pattern string) string {
	t.Helper()
	found, err := rdb.Keys(context.Background(), pattern).Result()
	if err != nil || len(found) != 1 {
		t.Fatalf("keys like %s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func FuzzParseSeq(f *testing.F) {
	for _, seed := range []string{"0", "1763678000000042", "-1", "9223372036854775808", " 1", "1-0", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := job.ParseSeq(text)
		if err == nil && n > 1<<63-1 {
			t.Errorf("%q is read as %d, which Redis cannot hold", text, n)
		}
		if again, err2 := job.ParseSeq(n.String()); err == nil && (err2 != nil || again != n) {
			t.Errorf("%q is read as %d and then as %d", text, n, again)
		}
	})
}
