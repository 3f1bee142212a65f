package store_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

func judge(t *testing.T, rdb redis.UniversalClient) store.Fitness {
	t.Helper()
	return must.Get(store.JudgeFitness(t.Context(), rdb, 0))(t)
}

// Every listed right is needed, and is reported if it is missing. The tests of the store and of the
// rules run with exactly these rights.
func TestEachMissingRightIsNamed(t *testing.T) {
	t.Parallel()
	admin := storetest.PrivateRedis(t)
	all := store.Rights()
	user := storetest.Restrict(t, admin, append(slices.Clone(all), "+info")...)
	if f := judge(t, user); len(f.Faults) > 0 {
		t.Fatalf("with all rights: %q", f.Faults)
	}
	for i, right := range all {
		storetest.SetRights(t, admin, append(slices.Delete(slices.Clone(all), i, i+1), "+info")...)
		want := []string{"does not grant this user required permissions: give it " + right + " (ACL SETUSER)"}
		must.Equal(t, want, judge(t, user).Faults, "without", right)
	}
	for name, c := range map[string]struct{ rights, want []string }{
		"two":                 {[]string{"~rb:*", "&rb:*", "+@all", "-hset", "-eval"}, []string{"give it +eval +hset (ACL"}},
		"by kinds":            {[]string{"~*", "&*", "+@all", "-@scripting"}, []string{"give it +eval +evalsha (ACL"}},
		"dangerous ones":      {[]string{"~*", "&*", "+@all", "-@dangerous"}, nil},
		"some keys":           {[]string{"~rb:{*", "&rb:*", "+@all"}, []string{"give it ~rb:* (ACL"}},
		"some partitions":     {[]string{"~rb:{00*", "~rb:session:*", "&rb:*", "+@all"}, []string{"give it ~rb:* (ACL"}},
		"keys to read":        {[]string{"%R~rb:*", "&rb:*", "+@all"}, []string{"give it ~rb:* (ACL"}},
		"a part of a command": {[]string{"~rb:*", "&rb:*", "+@all", "-xgroup|delconsumer"}, []string{"give it +xgroup (ACL"}},
		"nothing":             {nil, []string{"give it +ping (ACL"}},
	} {
		storetest.SetRights(t, admin, c.rights...)
		wantTexts(t, name, judge(t, user).Faults, c.want)
	}
	storetest.SetRights(t, admin, "~*", "&*", "+@all", "resetpass")
	other := storetest.PrivateRedis(t).(*redis.Client)
	wrong := *other.Options()
	wrong.Username, wrong.Password = "nobody", "wrong"
	stranger := redis.NewClient(&wrong)
	t.Cleanup(func() { _ = stranger.Close() })
	wantTexts(t, "a wrong password", judge(t, stranger).Faults, []string{"rejects this user (WRONGPASS)"})
	if keys := admin.Keys(t.Context(), "*").Val(); len(keys) > 0 {
		t.Errorf("looking has left %q", keys)
	}
}

func wantTexts(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %q, want %q", name, got, want)
		return
	}
	for i := range want {
		must.Contain(t, got[i], want[i], name)
	}
}

// docs/operations.md must list exactly the rights that are needed, because people copy them.
func TestRightsAreDocumented(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/operations.md"))(t)
	_, rights, _ := strings.Cut(string(text), "ACL SETUSER ringback on >password ")
	rights, _, _ = strings.Cut(rights, "```")
	if diff := cmp.Diff(store.Rights(), strings.Fields(rights)); diff != "" {
		t.Errorf("the documented rights are not those needed: %s\nthey are: %s", diff, strings.Join(store.Rights(), " "))
	}
}

func TestWhatIsFoundOfARedis(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set              []any
		faults, warnings []string
	}{
		"as it is":         {nil, nil, []string{"keeps no append-only file"}},
		"one that keeps":   {[]any{"config", "set", "appendonly", "yes"}, nil, nil},
		"one that forgets": {[]any{"config", "set", "maxmemory-policy", "volatile-ttl"}, []string{"may forget jobs when its memory is full (maxmemory-policy volatile-ttl): set it to noeviction"}, []string{"append-only"}},
		"a replica":        {[]any{"replicaof", "127.0.0.1", "1"}, []string{"is a replica"}, []string{"append-only"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := storetest.PrivateRedis(t)
			if c.set != nil {
				must.OK(t, rdb.Do(t.Context(), c.set...).Err())
			}
			f := judge(t, rdb)
			wantTexts(t, "faults", f.Faults, c.faults)
			wantTexts(t, "warnings", f.Warnings, c.warnings)
			// Without INFO, the same problems are found if possible, and a warning lists what is
			// unknown.
			f = judge(t, storetest.Restrict(t, rdb, store.Rights()...))
			if name == "a replica" {
				wantTexts(t, "faults without INFO", f.Faults, c.faults)
			}
			wantTexts(t, "warnings without INFO", f.Warnings, []string{"does not show this user (INFO): its version, whether it is a replica, maxmemory-policy, appendonly."})
		})
	}
}

// shiftedClock is a hook that makes a Redis' clock wrong.
type shiftedClock time.Duration

func (shiftedClock) DialHook(next redis.DialHook) redis.DialHook { return next }
func (shiftedClock) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (by shiftedClock) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if clock, ok := cmd.(*redis.TimeCmd); ok {
			clock.SetVal(clock.Val().Add(time.Duration(by)))
		}
		return err
	}
}

func TestClocksAreCompared(t *testing.T) {
	t.Parallel()
	for by, want := range map[time.Duration]string{
		0: "", -time.Second: "",
		time.Hour:         "has a clock that is 1h0m0s ahead of this machine's",
		-90 * time.Second: "has a clock that is 1m30s behind this machine's",
	} {
		rdb := storetest.PrivateRedis(t)
		rdb.AddHook(shiftedClock(by))
		f := judge(t, rdb)
		if got := strings.Join(f.Warnings, "|"); !strings.Contains(got, want) || strings.Contains(got, "clock") != (want != "") {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
		if off := f.ClockOffset - by; off.Abs() > time.Second {
			t.Errorf("%s: measured as %s", by, f.ClockOffset)
		}
	}
}

// A condition that only the operator has to fix must not end the start as a fault.
func TestARedisThatCannotWriteNowIsNotJudged(t *testing.T) {
	t.Parallel()
	rdb := storetest.PrivateRedis(t)
	must.OK(t, rdb.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err())
	if f, err := store.JudgeFitness(t.Context(), rdb, 0); err == nil || !strings.HasPrefix(err.Error(), "NOREPLICAS") || len(f.Faults) > 0 {
		t.Errorf("found %v, %v", f, err)
	}
	must.OK(t, rdb.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err())
	must.OK(t, rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	if f, err := store.JudgeFitness(t.Context(), rdb, 0); err == nil || !strings.HasPrefix(err.Error(), "OOM") {
		t.Errorf("found %v, %v of one whose memory is full", f, err)
	}
	if err := rdb.Do(t.Context(), "shutdown", "nosave").Err(); err == nil {
		t.Fatal("it did not stop")
	}
	if f, err := store.JudgeFitness(t.Context(), rdb, 0); err == nil {
		t.Errorf("one that is away: %v", f)
	}
}
