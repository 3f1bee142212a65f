package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// quotaNodes returns two nodes on one Redis, with one kind of 7 jobs at once and one of 6 a day.
func quotaNodes(t *testing.T, rdb redis.UniversalClient, ofUser job.Quota) [2]*storetest.Service {
	t.Helper()
	kinds := storetest.Kinds(t, kind.Builtin(), kind.Source{Prompts: fstest.MapFS{
		"few.md":   {Data: []byte("---\njobs_at_once: 7\n---\nDo it.")},
		"daily.md": {Data: []byte("---\njobs_per_day: 6\n---\nDo it.")},
		"any.md":   {Data: []byte("Do it.")},
	}})
	var nodes [2]*storetest.Service
	for i := range nodes {
		s := store.New(rdb, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
		must.OK(t, s.Prepare(t.Context()))
		nodes[i] = &storetest.Service{Store: s, Service: lifecycle.New(s, kinds, lifecycle.Options{UserQuota: ofUser})}
	}
	return nodes
}

// tryToCreate returns the new job, or the error of the refusal.
func tryToCreate(t *testing.T, s *storetest.Service, kindName, user string) (job.ID, *job.Error) {
	t.Helper()
	j, err := s.Create(t.Context(), lifecycle.Request{UserID: user, ByBackEnd: true, Kind: kindName})
	refused, ok := errors.AsType[*job.Error](err)
	if err != nil && (!ok || refused.Kind != job.TooMany) {
		t.Errorf("a job of %s was refused with %v", kindName, err)
	}
	return j.ID, refused
}

// However many requests reach two nodes at once, they create exactly as many jobs as the quota
// allows. A job that ends frees its slot, and a retried one needs one.
func TestQuotasHoldOverNodes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, kind string
		ofUser     job.Quota
		users      int
		places     int
		daily      bool
		names      string
	}{
		{"a kind at once", "few", job.Quota{}, 20, 7, false, `7 jobs of the kind "few" have not ended, and there may be 7 at once (jobs_at_once)`},
		{"a kind a day", "daily", job.Quota{}, 20, 6, true, `6 jobs of the kind "daily" were created today, and there may be 6 a day (jobs_per_day)`},
		{"a user at once", "any", job.Quota{AtOnce: 5}, 1, 5, false, "5 jobs of this user have not ended, and a user may have 5 at once (JOBS_PER_USER_AT_ONCE)"},
		{"a user a day", "any", job.Quota{PerDay: 4}, 1, 4, true, "4 jobs were created for this user today, and a user may have 4 a day (JOBS_PER_USER_PER_DAY)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rdb := storetest.PrivateRedis(t)
			storetest.SetTimeOfDay(t, rdb, storetest.Noon)
			nodes := quotaNodes(t, rdb, tc.ofUser)
			var mu sync.Mutex
			var created []job.ID
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					id, refused := tryToCreate(t, nodes[i%2], tc.kind, fmt.Sprint("u", i%tc.users))
					mu.Lock()
					defer mu.Unlock()
					if refused == nil {
						created = append(created, id)
					}
				})
			}
			all.Wait()
			if len(created) != tc.places {
				t.Fatalf("%d jobs were created", len(created))
			}
			_, refused := tryToCreate(t, nodes[0], tc.kind, "u0")
			if refused == nil || refused.Message != tc.names || refused.Hint == "" || (refused.RetryAfter > 0) != tc.daily || refused.RetryAfter > 12*time.Hour {
				t.Fatalf("the refusal is %+v", refused)
			}
			must.OK(t, nodes[1].Cancel(t.Context(), created[0], job.Actor{}))
			_, refused = tryToCreate(t, nodes[0], tc.kind, "u0")
			if (refused != nil) != tc.daily {
				t.Fatalf("once a job has ended, another is refused with %v", refused)
			}
			err := nodes[1].Retry(t.Context(), created[0])
			if tc.daily && err != nil || !tc.daily && (err == nil || !strings.Contains(err.Error(), "have not ended")) {
				t.Errorf("a retry of the ended job: %v", err)
			}
		})
	}
}

// A repeated request gets its job, whatever the number of jobs.
func TestARepeatedRequestNeedsNoPlace(t *testing.T) {
	t.Parallel()
	n := quotaNodes(t, storetest.PrivateRedis(t), job.Quota{AtOnce: 1, PerDay: 1})[0]
	r := lifecycle.Request{UserID: "u", ByBackEnd: true, Kind: "any", IdempotencyKey: "k"}
	first := must.Get(n.Create(t.Context(), r))(t)
	if again, err := n.Create(t.Context(), r); err != nil || again.ID != first.ID {
		t.Errorf("the same request got %v, %v", again.ID, err)
	}
}

// Repeated requests that reach two nodes at the same time create one job, and none is refused.
func TestRepeatedRequestsAtOnceNeedOnePlace(t *testing.T) {
	t.Parallel()
	nodes := quotaNodes(t, storetest.PrivateRedis(t), job.Quota{AtOnce: 3, PerDay: 3})
	for key := range 3 {
		var all sync.WaitGroup
		var ids sync.Map
		for i := range 16 {
			all.Go(func() {
				j, err := nodes[i%2].Create(t.Context(), lifecycle.Request{UserID: "u", ByBackEnd: true, Kind: "any", IdempotencyKey: strconv.Itoa(key)})
				if err != nil {
					t.Error(err)
				}
				ids.Store(j.ID, true)
			})
		}
		all.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		must.Equal(t, 1, n, "the key", key, "has made … jobs")
	}
	if _, err := nodes[0].Create(t.Context(), lifecycle.Request{UserID: "u", ByBackEnd: true, Kind: "any", IdempotencyKey: "another"}); err == nil {
		t.Error("a fourth job was created")
	}
}

// A job that a killed node was about to create keeps its slot until its reservation expires.
func TestAPlaceReservedByAKilledNodeLapses(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	n := quotaNodes(t, rdb, job.Quota{AtOnce: 1})[0]
	lost := lifecycle.Opening{JobID: job.ID(n.NewID(job.JobIDs, "u")), Kind: "any", UserID: "u"}
	must.Get(n.Reserve(t.Context(), lost))(t)
	if _, refused := tryToCreate(t, n, "any", "u"); refused == nil {
		t.Error("its place was given away")
	}
	name, _ := json.Marshal(lost) //nolint:errchkjson // texts
	rdb.ZAdd(t.Context(), "rb:{00}:opening", redis.Z{Score: float64(time.Now().Add(-15 * time.Second).UnixMilli()), Member: name})
	if _, refused := tryToCreate(t, n, "any", "u"); refused != nil {
		t.Errorf("its place is still taken: %v", refused)
	}
	must.Equal(t, 0, rdb.ZCard(t.Context(), "rb:{00}:opening").Val(), "reservations are left")
}

// A commit is not made if its reservation may have expired.
func TestALateCommitTakesNoPlace(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		j := started(t, s)
		st := must.Get(s.Load(t.Context(), lifecycle.Query{Job: j.ID}))(t)
		st.Job.Attempt, st.CommitID, st.Until = 3, "late", st.Now.Add(-time.Second)
		if committed, err := s.Commit(t.Context(), st); committed || err != nil {
			t.Errorf("it was committed: %v, %v", committed, err)
		}
	})
}

// A commit that opened several jobs would need a place for each.
func TestEachJobOfACommitNeedsAPlace(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	for places, fits := range map[int]bool{1: false, 2: true} {
		n := quotaNodes(t, rdb, job.Quota{AtOnce: places})[0]
		var jobs [2]job.Job
		for i := range jobs {
			jobs[i] = job.Job{ID: job.ID(n.NewID(job.JobIDs, "u")), Kind: "any", UserID: "u"}
		}
		if err := n.CheckOpenings(t.Context(), time.Now(), jobs[0], jobs[1]); fits != (err == nil) || !fits && !job.HasKind(err, job.TooMany) {
			t.Errorf("with %d places: %v", places, err)
		}
		must.Equal(t, 0, rdb.ZCard(t.Context(), "rb:{00}:opening").Val(), "reservations are left")
	}
}

// However many messages to ended jobs reach two nodes at once, as many jobs follow as the quota
// allows. Each other message was refused, or its chat says why it is not read.
func TestMessagesAtOnceOpenNoMoreThanTheQuota(t *testing.T) {
	t.Parallel()
	const places, chats = 3, 12
	nodes := quotaNodes(t, storetest.PrivateRedis(t), job.Quota{AtOnce: places})
	var ended [chats]job.Job
	for i := range ended {
		j, err := nodes[0].Create(t.Context(), lifecycle.Request{UserID: "u", ByBackEnd: true, Kind: "any"})
		if err == nil {
			err = nodes[0].Cancel(t.Context(), j.ID, job.Actor{})
		}
		must.OK(t, err)
		ended[i] = j
	}
	var all sync.WaitGroup
	for i, j := range ended {
		all.Go(func() {
			n := nodes[i%2]
			_, err := n.AppendMessage(t.Context(), "u", j.SessionID, job.Text(job.FromUser, "Go on"), new(lifecycle.Addressee))
			if err == nil {
				err = n.Follow(t.Context(), j.ID)
			} else if job.HasKind(err, job.TooMany) {
				return
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	followed := 0
	for _, j := range ended {
		chat, _, err := nodes[0].Chats.Messages(t.Context(), "u", j.SessionID, 0, 100)
		must.OK(t, err)
		last := chat[len(chat)-1]
		written := slices.ContainsFunc(chat, func(m job.Message) bool { return m.Content == "Go on" })
		if told := strings.Contains(last.Content, "JOBS_PER_USER_AT_ONCE"); written && !told {
			followed++
		}
	}
	list, _, err := nodes[0].Jobs.List(t.Context(), store.Query{UserID: "u", States: []job.State{job.Pending}, Limit: 100})
	if err != nil || len(list) > places || len(list) != followed { // all may be refused, if each finds the attempts of others
		t.Errorf("%d jobs follow, %d chats wait for one, %v", len(list), followed, err)
	}
}
