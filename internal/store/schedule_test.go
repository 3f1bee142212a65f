package store_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/store"
	"ringback/test/must"
)

// looked polls the partitions that the schedule returns, for a limited time, and counts the polls.
// next returns how long until more is due in a partition.
func looked(t *testing.T, s *store.Schedule, until time.Duration, next func(store.Partition) time.Duration) map[store.Partition]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), until)
	defer cancel()
	times := map[store.Partition]int{}
	for {
		p, ok := s.Next(ctx)
		if !ok {
			return times
		}
		times[p]++
		s.In(p, next(p))
	}
}

func idle(store.Partition) time.Duration { return -1 }

func TestScheduleLooksWhereSomethingIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := store.NewSchedule()
		must.Equal(t, store.Partitions, len(looked(t, s, time.Second, idle)), "partitions were looked at first")
		must.Equal(t, 0, len(looked(t, s, 30*time.Second, idle)), "nothing happened, and these were looked at")
		time.AfterFunc(time.Second, func() { s.Now(3) })
		if told := looked(t, s, 2*time.Second, idle); len(told) != 1 || told[3] != 1 {
			t.Errorf("told of partition 3: %v", told)
		}
		s.In(5, 3*time.Second)
		s.In(5, 10*time.Second) // it is due before that
		if due := looked(t, s, 4*time.Second, idle); len(due) != 1 || due[5] != 1 {
			t.Errorf("due in partition 5: %v", due)
		}
		if busy := looked(t, s, 10*time.Second+time.Millisecond, func(p store.Partition) time.Duration {
			return time.Second
		}); len(busy) != 0 {
			t.Errorf("nobody told of any: %v", busy)
		}
		s.All()
		must.Equal(t, store.Partitions, len(looked(t, s, time.Second, idle)), "partitions were looked at")
	})
}

func TestScheduleLooksAnywayNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := store.NewSchedule()
		times := looked(t, s, 3*time.Minute+time.Second, idle)
		for p, n := range times {
			must.Equal(t, 4, n, "partition", p, "was looked at … times in three minutes")
		}
	})
}

// A partition with work to do all the time keeps no other waiting.
func TestScheduleStarvesNoPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := store.NewSchedule()
		times := looked(t, s, 10*time.Second, func(p store.Partition) time.Duration {
			time.Sleep(10 * time.Millisecond) // the work
			if p == 7 {
				s.Now(p)
			}
			return time.Second
		})
		for p := range store.Partition(store.Partitions) {
			if n := times[p]; n < 8 {
				t.Errorf("partition %d was looked at %d times in ten seconds, the busy one %d times", p, n, times[7])
			}
		}
	})
}
