package store_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"

	"github.com/redis/go-redis/v9"
)

// jobsListed is the number of jobs in the store.
const jobsListed = 100_000

// BenchmarkList reads pages of 50 of 100,000 jobs, with every filter, and also inspects all jobs.
// One job in ten thousand has failed; one in a hundred is of a rare kind and has a rare tag. Each
// has a title, a tag and an input of 1 kB.
func BenchmarkList(b *testing.B) {
	s := storeOfMany(b)
	ctx := b.Context()
	for _, q := range []struct {
		name  string
		query store.Query
	}{
		{"all", store.Query{}},
		{"all brief", store.Query{Brief: true}},
		{"kind", store.Query{Kind: "rare"}},
		{"status", store.Query{States: []job.State{job.Failed}}},
		{"status of most", store.Query{States: []job.State{job.Received}}},
		{"nothing found", store.Query{States: []job.State{job.Rejected}}},
		{"two statuses", store.Query{States: []job.State{job.Failed, job.Received}}},
		{"all statuses but one", store.Query{States: job.States[1:]}},
		{"kind and status", store.Query{Kind: "rare", States: []job.State{job.Failed}}},
		{"user, kind and status", store.Query{UserID: "user-7", Kind: "common", States: []job.State{job.Received}}},
		{"all filters", store.Query{UserID: "user-7", Kind: "common", States: []job.State{job.Received}, Since: time.Now().Add(-time.Hour)}},
		{"a rare tag", store.Query{Tag: "rare"}},
		{"the tag of most", store.Query{Tag: "common", Until: time.Now().Add(-20 * time.Hour)}},
		{"a tag and a status", store.Query{Tag: "common", States: []job.State{job.Failed}}},
		{"words of most", store.Query{Text: "job common"}},
		{"words of none", store.Query{Text: "nowhere"}},
		{"words of a status", store.Query{Text: "job", States: []job.State{job.Failed}}},
		{"an old page", store.Query{States: []job.State{job.Received}, Cursor: fmt.Sprint(time.Now().Add(-20*time.Hour).UnixMilli(), ".x")}},
	} {
		q.query.Limit = 50
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Jobs.List(ctx, q.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("counts", func(b *testing.B) {
		for b.Loop() {
			must.Get(s.Jobs.Counts(ctx))(b)
		}
	})
	b.Run("examination", func(b *testing.B) {
		for b.Loop() {
			must.OK(b, s.Inspect(ctx, nil, false, func(f job.Finding) { b.Errorf("%+v", f) }))
		}
	})
}

// storeOfMany writes records, and has Inspect create their lists.
func storeOfMany(b *testing.B) *store.Store {
	b.Helper()
	rdb := storetest.PrivateRedis(b)
	s := store.New(rdb, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
	ctx, input := b.Context(), `{"text":"`+strings.Repeat("x", 1000)+`"}`
	for i := 0; i < jobsListed; {
		pipe := rdb.Pipeline()
		for range 1000 {
			user, kind, state, tags := fmt.Sprint("user-", i%1000), "common", job.Received, "common"
			if i%100 == 0 {
				kind, tags = "rare", "common rare"
			}
			if i%10000 == 0 {
				state = job.Failed
			}
			id := s.NewID("req", user)
			place := "rb:{" + id[4:6] + "}:"
			created := time.Now().Add(-time.Duration(jobsListed-i) * time.Second).UnixMilli()
			pipe.HSet(ctx, place+"job:"+id, "kind", kind, "user", user, "session", id, "prefix", kind, "state", string(state), "version", 5,
				"created", created, "updated", created, "finished", created, "retention", time.Hour.Milliseconds(), "input", input, "priority", "batch",
				"title", fmt.Sprint("Job number ", i), "tags", tags)
			pipe.ZAdd(ctx, place+"deadlines", redisZ(float64(created)+3.6e6, "purge|"+id))
			pipe.ZAdd(ctx, place+"jobs", redisZ(float64(created), id))
			i++
		}
		must.Get(pipe.Exec(ctx))(b)
	}
	must.OK(b, s.Prepare(ctx))
	began := time.Now()
	must.OK(b, s.Inspect(ctx, nil, true, func(job.Finding) {}))
	b.Logf("making the lists of %d jobs took %s", jobsListed, time.Since(began).Round(time.Millisecond))
	return s
}

func redisZ(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
