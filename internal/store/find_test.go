package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// crowd adds the IDs of n other jobs to the store.
func crowd(t *testing.T, rdb redis.UniversalClient, n int) {
	t.Helper()
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	dice := rand.New(rand.NewPCG(1, 2))
	members := map[string][]redis.Z{}
	for range n {
		p := dice.IntN(store.Partitions)
		random := make([]byte, 26)
		for i := range random {
			random[i] = letters[dice.IntN(len(letters))]
		}
		key := fmt.Sprintf("rb:{%02x}:ids", p)
		members[key] = append(members[key], redis.Z{Member: fmt.Sprintf("req_%02x_%s", p, random)})
	}
	for key, of := range members {
		must.OK(t, rdb.ZAdd(t.Context(), key, of...).Err())
	}
}

func prefix(t *testing.T, word, text string) job.IDPrefix {
	t.Helper()
	p, ok := job.ParseIDPrefix(word, text)
	if !ok {
		t.Fatalf("%q is no prefix", text)
	}
	return p
}

func TestJobsAreFoundByTheBeginningOfTheirIDs(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		crowd(t, rdb, 100_000)
		var jobs []job.Job
		for _, user := range []string{"u1", "u2", "u3"} {
			j := must.Get(s.Start(t.Context(), newJob(user)))(t)
			jobs = append(jobs, j)
		}
		for _, j := range jobs {
			id := string(j.ID)
			random := id[len("req_06_"):]
			for _, text := range []string{id, random, random[:6], "req_" + random[:7], id[:len("req_06_")+6], strings.ToUpper(random[:8])} {
				found, next, err := s.Jobs.List(t.Context(), store.Query{IDs: prefix(t, job.JobIDs, text), Limit: 5})
				if err != nil || len(found) != 1 || found[0].ID != j.ID || next != "" {
					t.Errorf("%s: found %v, %v; want %s", text, found, err, id)
				}
			}
			for name, q := range map[string]store.Query{
				"another user": {UserID: "u9"}, "another kind": {Kind: "other"}, "another state": {States: []job.State{job.Failed}},
				"only later": {Since: time.Now().Add(time.Hour)},
			} {
				q.IDs, q.Limit = prefix(t, job.JobIDs, random[:6]), 5
				if found, _, err := s.Jobs.List(t.Context(), q); err != nil || len(found) != 0 {
					t.Errorf("%s: found %v, %v", name, found, err)
				}
			}
		}
	})
}

func TestCheckpointsAreFoundByTheBeginningOfTheirIDs(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		_, id, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{UserID: "u1", SessionID: "s1", Type: job.Confirmation, Message: "Now?"})
		must.OK(t, err)
		random := string(id)[len("chk_06_"):]
		for _, text := range []string{string(id), random[:6], "chk_" + random[:9]} {
			found, _, err := s.Checkpoints.List(t.Context(), store.CheckpointQuery{IDs: prefix(t, job.CheckpointIDs, text), Status: job.Open, Limit: 5})
			if err != nil || len(found) != 1 || found[0].ID != id {
				t.Errorf("%s: found %v, %v", text, found, err)
			}
		}
		for _, q := range []store.CheckpointQuery{{UserID: "u2"}, {Status: job.Answered}, {Type: job.Review}} {
			q.IDs, q.Limit = prefix(t, job.CheckpointIDs, random[:6]), 5
			if found, _, err := s.Checkpoints.List(t.Context(), q); err != nil || len(found) != 0 {
				t.Errorf("%+v: found %v, %v", q, found, err)
			}
		}
		jobs, _, err := s.Jobs.List(t.Context(), store.Query{IDs: prefix(t, job.JobIDs, random[:6]), Limit: 5})
		if err != nil || len(jobs) != 0 {
			t.Errorf("a checkpoint was taken for a job: %v, %v", jobs, err)
		}
	})
}
