package store_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The place of a job counts what starts before it if nothing else is added.
func TestAJobSaysWhatItWaitsBehind(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 100}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		here, elsewhere := usersOf(s, 3, 3), usersOf(s, 5, 2)
		start := func(user, key string, priority job.Priority) *job.Job {
			t.Helper()
			n := newJob(user)
			n.APIKey, n.Priority = key, priority
			j, err := s.Start(t.Context(), n)
			must.OK(t, err)
			if j, err = s.Get(t.Context(), j.ID); err != nil { // the store sets the creation time
				t.Fatal(err)
			}
			return &j
		}
		for _, user := range []string{here[1], here[2], elsewhere[0]} {
			for range 3 {
				start(user, "", job.Interactive)
			}
		}
		start(elsewhere[1], "", job.Batch)
		mine := []*job.Job{start(here[0], "", job.Interactive), start(here[0], "", job.Interactive), start(here[0], "", job.Interactive)}
		slices.SortFunc(mine, func(a, b *job.Job) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(string(a.ID), string(b.ID)))
		})
		want := func(j *job.Job, place *job.QueuePlace) {
			t.Helper()
			j.Queue = nil
			must.OK(t, s.Queue.Show(t.Context(), []*job.Job{j}))
			must.Equal(t, place, j.Queue, "it waits behind")
		}
		want(mine[0], &job.QueuePlace{OtherUsers: 3})
		want(mine[2], &job.QueuePlace{OwnJobs: 2, OtherUsers: 3})
		byKey := start(here[0], "shop", job.Interactive) // which takes turns with the others
		want(byKey, &job.QueuePlace{OtherUsers: 4})
		want(mine[2], &job.QueuePlace{OwnJobs: 2, OtherUsers: 4})
		must.OK(t, s.Cancel(t.Context(), byKey.ID, job.Actor{}))
		for range 3 { // one of each user
			if taken, ok, err := s.Dequeue(t.Context(), store.Partition(3), "n"); err != nil || !ok {
				t.Fatal(taken, err)
			}
		}
		want(mine[0], nil)
		want(mine[2], &job.QueuePlace{OwnJobs: 1, OtherUsers: 3})
	})
}
