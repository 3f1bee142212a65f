package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// shards makes the calls for some partitions fail, like those for a shard of a Cluster that is unavailable. A pipeline
// is split by shard: the calls for the others succeed.
type shards struct {
	mu   sync.Mutex
	away []store.Partition
}

var errAway = errors.New("dial tcp: connection refused")

func (s *shards) set(away ...store.Partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *shards) isAway(cmd redis.Cmder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.away {
		if strings.Contains(fmt.Sprint(cmd.Args()), fmt.Sprintf("rb:{%02x}", int(p))) {
			return true
		}
	}
	return false
}

func (*shards) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *shards) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if s.isAway(cmd) {
			cmd.SetErr(errAway)
			return errAway
		}
		return next(ctx, cmd)
	}
}

func (s *shards) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var here []redis.Cmder
		for _, cmd := range cmds {
			if s.isAway(cmd) {
				cmd.SetErr(errAway)
			} else {
				here = append(here, cmd)
			}
		}
		var err error
		if len(here) > 0 {
			err = next(ctx, here)
		}
		if len(here) < len(cmds) {
			return errAway
		}
		return err
	}
}

// waitingIn creates a job in each of some partitions.
func waitingIn(t *testing.T, s *storetest.Service, partitions ...store.Partition) (ids []job.ID) {
	t.Helper()
	for _, p := range partitions {
		ids = append(ids, must.Get(s.Start(t.Context(), newJob(usersOf(s, p, 1)[0])))(t).ID)
	}
	return ids
}

// A shard that is unavailable stops nothing in the partitions of the others, whatever is done for all of them.
func TestAPartitionThatIsUnavailableStopsNoOther(t *testing.T) {
	t.Parallel()
	all := []store.Partition{0, 3, 9, 15}
	for name, do := range map[string]func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) (reached int){
		"taking jobs": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) int {
			t.Helper()
			waitingIn(t, s, all...)
			turns := store.NewTurns()
			turns.LookAll()
			down()
			take := func() (taken int) {
				for range len(all) + 1 {
					_, ok, err := s.Queue.Dequeue(t.Context(), turns, "n")
					if ok {
						taken++
						turns.LookAll()
					} else if !job.HasKind(err, job.Unavailable) {
						return taken
					}
				}
				return taken
			}
			reached := take()
			return reached
		},
		"taking jobs that wait for no limit": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) (reached int) {
			t.Helper()
			ids := waitingIn(t, s, all...)
			for i, id := range ids {
				must.OK(t, rdb.ZAdd(t.Context(), fmt.Sprintf("rb:{%02x}:unlimited", int(all[i])), redis.Z{Score: 1, Member: string(id)}).Err())
			}
			down()
			for range len(all) + 1 {
				if _, ok, _ := s.Queue.DequeueUnlimited(t.Context(), "n"); ok {
					reached++
				}
			}
			return reached
		},
		"taking over a lost node's turns": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) int {
			t.Helper()
			waitingIn(t, s, all...)
			for range all {
				s.Next(t, "lost")
			}
			down()
			lost, err := s.Nodes.Lost(t.Context(), "lost")
			must.Equal(t, true, job.HasKind(err, job.Unavailable), err)
			return len(lost)
		},
		"finding what a node owns": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) int {
			t.Helper()
			waitingIn(t, s, all...)
			for range all {
				s.Next(t, "n")
			}
			down()
			turns, unstarted, err := s.Nodes.OwnedBy(t.Context(), "n")
			must.Equal(t, true, job.HasKind(err, job.Unavailable), err)
			must.Equal(t, 0, len(unstarted))
			return len(turns)
		},
		"noticing that events were missed": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) int {
			t.Helper()
			resubscribed := make(chan struct{}, 16)
			down()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go s.Events.Subscribe(ctx, store.Subscriber{ResubscribedFunc: func() { resubscribed <- struct{}{} }})
			select {
			case <-resubscribed:
				return len(all) - 1
			case <-time.After(10 * time.Second):
				return 0
			}
		},
		"trying again after a limit": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, down func()) (reached int) {
			t.Helper()
			limit := lifecycle.RateLimit{Until: time.Now().Add(time.Hour), Stated: true}
			for _, id := range waitingIn(t, s, all...) {
				s.Next(t, "n")
				must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: id, Turn: 1, Node: "n", Begun: true, Code: job.CodeUsageLimit, RateLimit: &limit}))(t)
			}
			must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:a", "until", 1, "job", "req_1").Err())
			down()
			_, _ = s.Limits.End(t.Context(), "a", "req_1") // it is repeated
			for _, p := range all {
				if due, _, err := s.Deadlines.Due(t.Context(), p); err == nil {
					reached += len(due)
				}
			}
			return reached
		},
	} {
		for _, away := range []store.Partition{3, 9, 15} {
			t.Run(fmt.Sprint(name, ", without partition ", away), func(t *testing.T) {
				t.Parallel()
				db, embedded := storetest.InProcess(t, store.Options{})
				s := &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}
				down := &shards{}
				embedded.Client.AddHook(down)
				reached := do(t, s, embedded.Client, func() { down.set(away) })
				must.Equal(t, len(all)-1, reached, "what is reached")
			})
		}
	}
}
