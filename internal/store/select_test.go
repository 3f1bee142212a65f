package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// listed returns the titles on all pages of a list, and the number of partial or empty pages.
func listed(t *testing.T, s *store.Store, q store.Query) (titles []string, partial int) {
	t.Helper()
	for {
		jobs, next, err := s.Jobs.List(t.Context(), q)
		must.OK(t, err)
		for _, j := range jobs {
			titles = append(titles, j.Title)
		}
		if next == "" {
			return titles, partial
		}
		if len(jobs) < q.Limit {
			partial++
			if at := store.CursorTime(next); at.After(time.Now()) || at.Before(time.Now().Add(-48*time.Hour)) {
				t.Errorf("searched back to %s", at)
			}
		}
		q.Cursor = next
	}
}

func TestJobsAreSelectedByTagTextAndTime(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{Retention: time.Hour}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ids := map[string]job.ID{}
		for _, n := range []lifecycle.NewJob{
			{Title: "Soup for Monday", UserID: "u1", Tags: []string{"nightly", "team:food"}},
			{Title: "Bread", UserID: "u1", Tags: []string{"nightly"}},
			{Title: "Soup for Ädam", UserID: "u2", Tags: []string{"team:food"}},
			{Title: "Nothing else", UserID: "food"},
		} {
			like := newJob(n.UserID)
			like.Title, like.Tags = n.Title, n.Tags
			j := must.Get(s.Start(t.Context(), like))(t)
			ids[n.Title] = j.ID
			for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; { // lists are sorted by millisecond
			}
		}
		must.OK(t, s.End(t.Context(), ids["Bread"], job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
		bread, _ := s.Get(t.Context(), ids["Bread"])
		for name, row := range map[string]struct {
			query store.Query
			want  []string
		}{
			"a tag":                       {store.Query{Tag: "nightly"}, []string{"Bread", "Soup for Monday"}},
			"a tag with a colon":          {store.Query{Tag: "team:food"}, []string{"Soup for Ädam", "Soup for Monday"}},
			"a tag as another's user":     {store.Query{Tag: "team", UserID: "food"}, nil},
			"a tag of a user":             {store.Query{Tag: "team:food", UserID: "u2"}, []string{"Soup for Ädam"}},
			"a tag and a state":           {store.Query{Tag: "nightly", States: []job.State{job.Cancelled}}, []string{"Bread"}},
			"a tag and any of two states": {store.Query{Tag: "nightly", States: []job.State{job.Cancelled, job.Pending}}, []string{"Bread", "Soup for Monday"}},
			"any of two states": {
				store.Query{States: []job.State{job.Pending, job.Cancelled}, UserID: "u1"}, []string{"Bread", "Soup for Monday"},
			},
			"any of two states, of all users": {
				store.Query{States: []job.State{job.Failed, job.Pending}}, []string{"Nothing else", "Soup for Ädam", "Soup for Monday"},
			},
			"a state that is named twice": {store.Query{States: []job.State{job.Pending, job.Pending}, UserID: "u1"}, []string{"Soup for Monday"}},
			"all states":                  {store.Query{States: job.States[:], UserID: "u1"}, []string{"Bread", "Soup for Monday"}},
			"a tag and another kind":      {store.Query{Tag: "nightly", Kind: "other"}, nil},
			"words in any case":           {store.Query{Text: "SOUP ädam"}, []string{"Soup for Ädam"}},
			"words of a tag and title":    {store.Query{Text: "food monday"}, []string{"Soup for Monday"}},
			"words of one and another":    {store.Query{Text: "bread monday"}, nil},
			"an id":                       {store.Query{Text: string(ids["Bread"])[12:]}, []string{"Bread"}},
			"words and a state":           {store.Query{Text: "o", States: []job.State{job.Pending}, UserID: "u1"}, []string{"Soup for Monday"}},
			"since":                       {store.Query{Since: bread.CreatedAt, UserID: "u1"}, []string{"Bread"}},
			"until":                       {store.Query{Until: bread.CreatedAt}, []string{"Soup for Monday"}},
			"until, a moment later":       {store.Query{Until: bread.CreatedAt.Add(time.Microsecond), Tag: "nightly"}, []string{"Bread", "Soup for Monday"}},
			"by the beginning of ids":     {store.Query{IDs: prefix(t, job.JobIDs, string(ids["Bread"])), Tag: "team:food"}, nil},
		} {
			for _, limit := range []int{1, 2, 50} {
				row.query.Limit = limit
				if got, _ := listed(t, s.Store, row.query); !slices.Equal(got, row.want) {
					t.Errorf("%s, %d at once: %v, want %v", name, limit, got, row.want)
				}
			}
		}
		if unknown, err := s.Unknown(t.Context()); err != nil || len(unknown) > 0 {
			t.Errorf("keys that no list names: %v, %v", unknown, err)
		}
	})
}

// A search reads a limited number of jobs at once, and returns how far back it has searched.
func TestASearchIsBounded(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	s := storetest.New(t, rdb, lifecycle.Options{})
	pipe := rdb.Pipeline()
	for i := range 5000 {
		id, title := s.NewID("req", "u1"), "common"
		if i%1000 == 500 {
			title = "-rare-" // no ID contains a hyphen
		}
		created := time.Now().Add(-time.Duration(i) * time.Second).UnixMilli()
		place := "rb:{" + id[4:6] + "}:"
		pipe.HSet(t.Context(), place+"job:"+id, "kind", "note", "user", "u1", "state", "received", "title", fmt.Sprint(title, " ", i), "created", created)
		pipe.ZAdd(t.Context(), place+"jobs", redisZ(float64(created), id))
	}
	must.Get(pipe.Exec(t.Context()))(t)
	found, partial := listed(t, s.Store, store.Query{Text: "-rare-", Limit: 3})
	if want := []string{"-rare- 500", "-rare- 1500", "-rare- 2500", "-rare- 3500", "-rare- 4500"}; !slices.Equal(found, want) || partial == 0 || partial > 5 {
		t.Errorf("found %v, in %d pages that were cut short", found, partial)
	}
	if found, partial := listed(t, s.Store, store.Query{Text: "-none-", Limit: 50}); len(found) > 0 || partial < 4 || partial > 5 {
		t.Errorf("found %v, in %d pages that were cut short", found, partial)
	}
}
