// Package storetest gives tests a store, with the rules of jobs on top: in process, or on a private
// redis-server.
package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/test/must"
)

// Service combines a store with the rules of jobs on it.
type Service struct {
	*store.Store
	*lifecycle.Service
}

// New returns a store on a Redis, ready for use, with the rules of jobs on it, for one test.
func New(tb testing.TB, client redis.UniversalClient, opts lifecycle.Options) *Service {
	tb.Helper()
	s := open(tb, client, store.Options{Retention: opts.Retention})
	return &Service{s, lifecycle.New(s, nil, opts)}
}

func open(tb testing.TB, client redis.UniversalClient, opts store.Options) *store.Store {
	tb.Helper()
	s := store.New(client, WithDefaults(opts), slog.New(slog.DiscardHandler))
	tb.Cleanup(func() { _ = s.Close() })
	must.OK(tb, s.Prepare(tb.Context()))
	return s
}

// WithDefaults returns the options of a store with values for those that are not set.
func WithDefaults(o store.Options) store.Options {
	o.Retention, o.NodeTimeout = cmp.Or(o.Retention, 7*24*time.Hour), cmp.Or(o.NodeTimeout, 30*time.Second)
	return o
}

// InProcess returns an in-memory store, ready for use, for one test.
func InProcess(tb testing.TB, opts store.Options) (*store.Store, *redisd.Embedded) {
	tb.Helper()
	embedded := must.Get(redisd.StartInProcess())(tb)
	tb.Cleanup(embedded.Close)
	return open(tb, embedded.Client, opts), embedded
}

// NewJob describes a job of a user.
func NewJob(user string) lifecycle.NewJob {
	return lifecycle.NewJob{
		Kind: "k", UserID: user, Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive,
		CallbackTimeout: time.Minute, MaxAttempts: 2,
	}
}

// OnBoth runs a test against the in-process store and a private redis-server.
func OnBoth(t *testing.T, opts lifecycle.Options, check func(t *testing.T, s *Service, rdb redis.UniversalClient)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		s, embedded := InProcess(t, store.Options{Retention: opts.Retention})
		check(t, &Service{s, lifecycle.New(s, nil, opts)}, embedded.Client)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		client := PrivateRedis(t)
		rights := append(store.Rights(), "+hkeys") // for Unknown
		check(t, New(t, Restrict(t, client, rights...), opts), client)
	})
}

// Restrict returns a client of a Redis for a user with only these rights, in the syntax of ACL
// SETUSER.
func Restrict(tb testing.TB, rdb redis.UniversalClient, rights ...string) redis.UniversalClient {
	tb.Helper()
	SetRights(tb, rdb, rights...)
	own := *rdb.(*redis.Client).Options()
	own.Username, own.Password = "ringback", "of-a-test"
	client := redis.NewClient(&own)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// SetRights gives the user of Restrict only these rights.
func SetRights(tb testing.TB, rdb redis.UniversalClient, rights ...string) {
	tb.Helper()
	words := []any{"acl", "setuser", "ringback", "reset", "on", ">of-a-test"}
	for _, right := range rights {
		words = append(words, right)
	}
	if err := rdb.Do(tb.Context(), words...).Err(); err != nil {
		tb.Fatal(err)
	}
}

// PrivateRedis starts a redis-server on a socket, for one test.
func PrivateRedis(tb testing.TB) redis.UniversalClient {
	tb.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" { //nolint:forbidigo // whether this is CI is no setting of ours
			tb.Fatal("redis-server is not installed: run make deps")
		}
		tb.Skip("redis-server is not installed: run make deps")
	}
	dir, err := os.MkdirTemp("", "rb") //nolint:usetesting // a socket's path must be short
	if err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(
		tb.Context(), bin, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--logfile", "log",
	)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{socket}})
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil && client.Ping(tb.Context()).Err() == nil {
			return client
		}
		if time.Now().After(deadline) {
			tb.Fatal("redis-server did not start")
		}
	}
}

// Kinds returns the kinds of these sources.
func Kinds(tb testing.TB, sources ...kind.Source) *kind.Registry {
	tb.Helper()
	kinds, problems := kind.Load(sources...)
	must.OK(tb, schema.Join(problems))
	return kinds
}

// Next takes the next waiting turn of any partition for a node. It returns nil if none waits.
func (s *Service) Next(tb testing.TB, node string) *lifecycle.Turn {
	tb.Helper()
	for p := range store.Partition(store.Partitions) {
		if turn := must.Get(s.Claim(tb.Context(), p, lifecycle.Worker{Node: node}))(tb); turn != nil {
			return turn
		}
	}
	return nil
}

// Dequeue assigns the next job of a partition to a node, as if no other partition had any.
func (s *Service) Dequeue(ctx context.Context, p store.Partition, node string) (lifecycle.QueueEntry, bool, error) {
	turns := store.NewTurns()
	turns.Look(p)
	return s.Queue.Dequeue(ctx, turns, node)
}

// Claim takes the next queue entry of a partition and starts its turn. It returns nil if nothing
// that may run now is waiting.
func (s *Service) Claim(ctx context.Context, p store.Partition, w lifecycle.Worker) (*lifecycle.Turn, error) {
	for {
		taken, ok, err := s.Dequeue(ctx, p, w.Node)
		if err != nil || !ok {
			return nil, err
		}
		if turn, err := s.StartTurn(ctx, w, taken); turn != nil || err != nil {
			return turn, err
		}
	}
}

// FireDue fires what is due in a partition.
func (s *Service) FireDue(ctx context.Context, p store.Partition) error {
	for {
		if next, err := s.Deadlines.FireDue(ctx, p, s.Service); err != nil || next != 0 {
			return err
		}
	}
}

// SetTimeOfDay sets the store's time to a time of Redis' day (UTC) and returns the start of that
// day. Tests of what is counted by day use it, so that the day does not turn while they run. A
// store that is in use has the time with its next reading.
func SetTimeOfDay(tb testing.TB, rdb redis.UniversalClient, at time.Duration) (day time.Time) {
	tb.Helper()
	now, err := rdb.Time(tb.Context()).Result()
	if err != nil {
		tb.Fatal(err)
	}
	day = now.UTC().Truncate(24 * time.Hour)
	const clock = "rb:{00}:clock"
	_, err = rdb.TxPipelined(tb.Context(), func(tx redis.Pipeliner) error {
		tx.HSet(tb.Context(), clock, "by", day.Add(at).Sub(now).Milliseconds(), "since", now.UnixMilli())
		tx.HIncrBy(tb.Context(), clock, "count", 1)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return day
}

// Noon is the time of day that is farthest from the turn of the day.
const Noon = 12 * time.Hour
