package store_test

import (
	"fmt"
	"strings"
	"testing"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// BenchmarkTake measures the cost of taking a job for different numbers of users and waiting jobs.
func BenchmarkTake(b *testing.B) {
	for _, users := range []int{2, 500} {
		for _, backlog := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("users=%d/backlog=%d", users, backlog), func(b *testing.B) { benchmarkTake(b, users, backlog) })
		}
	}
}

func benchmarkTake(b *testing.B, users, backlog int) {
	b.Helper()
	const takes = 500
	client := storetest.PrivateRedis(b)
	s := storetest.New(b, client, lifecycle.Options{})
	names, turns := usersOf(s, 3, users), store.NewTurns()
	turns.LookAll()
	for i := range backlog {
		must.Get(s.Start(b.Context(), newJob(names[i%users])))(b)
	}
	must.OK(b, client.ConfigResetStat(b.Context()).Err())
	b.ResetTimer()
	for range takes {
		if _, ok, err := s.Queue.Dequeue(b.Context(), turns, "n"); err != nil || !ok {
			b.Fatal("nothing was taken", err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/takes, "µs/take")
	stats := must.Get(client.Info(b.Context(), "commandstats").Result())(b)
	for line := range strings.Lines(stats) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_evalsha:"); ok {
			var calls, usec int
			must.Get(fmt.Sscanf(rest, "calls=%d,usec=%d", &calls, &usec))(b)
			b.ReportMetric(float64(usec)/float64(calls), "redis-µs/take")
		}
	}
}
