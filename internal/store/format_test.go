package store_test

import (
	"context"
	"log/slog"
	"os"
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

// fleet is the servers of a store, by name.
type fleet struct {
	t   *testing.T
	rdb redis.UniversalClient
	new map[string]*store.Store
	// join9 is the script by which servers of the version before register.
	join9 string
}

func newFleet(t *testing.T, rdb redis.UniversalClient) *fleet {
	t.Helper()
	return &fleet{t, rdb, map[string]*store.Store{}, string(must.Get(os.ReadFile("testdata/join9.lua"))(t))}
}

// server returns a server of this version.
func (f *fleet) server(name string) *store.Store {
	f.t.Helper()
	if f.new[name] == nil {
		f.new[name] = store.New(f.rdb, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
	}
	return f.new[name]
}

// old starts a server of the version before, or lets it give a sign of life. It reports whether it runs.
func (f *fleet) old(ctx context.Context, name string) bool {
	f.t.Helper()
	const clock = `local P = KEYS[1]
local function num(n) return string.format('%.0f', n) end
local s, us = unpack(redis.call('TIME'))
local NOW = s * 1000 + math.floor(us / 1000) + tonumber(redis.call('HGET', P .. ':clock', 'by') or '0')
local function timed(answer) return answer end
`
	others, err := f.rdb.Eval(ctx, clock+f.join9, []string{"rb:{00}"}, name, 9, 30000, "").Slice()
	must.OK(f.t, err)
	if len(others) > 0 {
		return false
	}
	must.OK(f.t, f.rdb.SetNX(ctx, "rb:{00}:format", 9, 0).Err())
	return must.Get(f.rdb.Get(ctx, "rb:{00}:format").Int())(f.t) == 9
}

// pass lets time pass, for the store.
func (f *fleet) pass(d time.Duration) {
	f.t.Helper()
	ctx := f.t.Context()
	pipe := f.rdb.TxPipeline()
	pipe.HIncrBy(ctx, "rb:{00}:clock", "by", d.Milliseconds())
	pipe.HIncrBy(ctx, "rb:{00}:clock", "seen", d.Milliseconds())
	pipe.HIncrBy(ctx, "rb:{00}:clock", "count", 1)
	must.Get(pipe.Exec(ctx))(f.t)
}

// does what a sentence says, and reports what came of it: "ok", or "refused".
func (f *fleet) does(sentence string) string {
	f.t.Helper()
	ctx, words := f.t.Context(), strings.Fields(sentence)
	ok := func(is bool) string {
		if is {
			return "ok"
		}
		return "refused"
	}
	switch who, what := words[0], words[1]; what {
	case "starts", "lives":
		if strings.HasPrefix(who, "old") {
			return ok(f.old(ctx, who))
		}
		if what == "lives" {
			return ok(f.server(who).Nodes.Stay(ctx, who) == nil)
		}
		return ok(f.server(who).Nodes.Join(ctx, who) == nil)
	case "stops":
		if strings.HasPrefix(who, "old") {
			return ok(f.rdb.ZRem(ctx, "rb:{00}:servers", "9 "+who).Err() == nil)
		}
		return ok(f.server(who).Nodes.Quit(ctx, who) == nil)
	case "finishes":
		return ok(f.server(who).Nodes.Finish(ctx) == nil)
	case "passes":
		f.pass(must.Get(time.ParseDuration(who))(f.t))
		return "ok"
	}
	f.t.Fatalf("nobody knows how %s", sentence)
	return ""
}

// Two neighbouring versions run side by side, in the older format, for as long as a server of the older one may come
// back; then the store moves once, and no server of the older one writes to it any more.
func TestWhenTheStoreMovesToTheNextFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens string // sentences; one that is refused begins with !
		format  int
	}{
		"an empty store is in the newest format":             {"new starts", 10},
		"an older version does not use it":                   {"new starts, !old starts", 10},
		"a store of the version before stays in its format":  {"old starts, new starts", 9},
		"the version before starts again beside it":          {"old starts, new starts, old stops, old starts", 9},
		"it can replace the new one":                         {"old starts, old stops, new starts, new stops, old starts", 9},
		"a server gets the version before again":             {"old starts, new starts, old2 starts, new stops, !old finishes", 9},
		"a person finishes the upgrade":                      {"old starts, new starts, old stops, new finishes, new lives", 10},
		"not while the version before runs":                  {"old starts, new starts, !new finishes", 9},
		"not until a killed server is surely gone":           {"old starts, new starts, 29s passes, !new finishes", 9},
		"a killed server is gone after a time":               {"old starts, new starts, 31s passes, new lives, new finishes", 10},
		"afterwards the version before ends":                 {"old starts, new starts, old stops, new finishes, !old starts", 10},
		"also if it was silent, not stopped":                 {"old starts, new starts, 31s passes, new finishes, !old lives", 10},
		"others of the new version notice":                   {"old starts, new starts, new2 starts, old stops, new finishes, new2 lives, new2 stops, new stops, new starts", 10},
		"it moves by itself after three days":                {"old starts, new starts, old stops, new lives, 20h passes, new lives, 20h passes, new lives, 20h passes, new lives, 13h passes, new lives", 10},
		"and not before":                                     {"old starts, new starts, old stops, new lives, 20h passes, new lives, 20h passes, new lives, 20h passes, new lives, 11h passes, new lives", 9},
		"the days begin when the last old server is gone":    {"old starts, new starts, new lives, 71h passes, old lives, new lives, old stops, new lives, 2h passes, new lives", 9},
		"also if one comes back in between":                  {"old starts, old stops, new starts, 23h passes, new lives, 23h passes, new lives, 23h passes, old starts, new lives, old stops, new lives, 5h passes, new lives", 9},
		"after a start, the way back stays for an hour":      {"old starts, old stops, new starts, 23h passes, new lives, 23h passes, new lives, 23h passes, new lives, new stops, 6h passes, new starts", 9},
		"and no longer":                                      {"old starts, old stops, new starts, 23h passes, new lives, 23h passes, new lives, 23h passes, new lives, new stops, 6h passes, new starts, 2h passes, new lives", 10},
		"an old server may have run while no new one did":    {"old starts, old stops, new starts, new stops, 80h passes, new starts, 2h passes, new lives", 9},
		"a server that is up for eight hours a day finishes": {"old starts, old stops, new starts, 8h passes, new lives, new stops, 16h passes, new starts, 8h passes, new lives, new stops, 16h passes, new starts, 8h passes, new lives, new stops, 16h passes, new starts, 2h passes, new lives", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, storetest.PrivateRedis(t))
			for sentence := range strings.SplitSeq(c.happens, ", ") {
				want := "ok"
				if rest, refused := strings.CutPrefix(sentence, "!"); refused {
					sentence, want = rest, "refused"
				}
				must.Equal(t, want, f.does(sentence), sentence)
			}
			must.Equal(t, c.format, must.Get(f.rdb.Get(t.Context(), "rb:{00}:format").Int())(t), "the format")
		})
	}
}

// What a person reads before and after an upgrade.
func TestTheFormatOfTheStoreIsShown(t *testing.T) {
	t.Parallel()
	f := newFleet(t, storetest.PrivateRedis(t))
	show := func() job.StoreFormat {
		t.Helper()
		return must.Get(f.server("new").Nodes.Format(t.Context()))(t)
	}
	f.does("old starts")
	f.does("new starts")
	both := show()
	must.Equal(t, []job.StoreServer{{Name: "new", Format: 9, Reads: 10}, {Name: "old", Format: 9, Reads: 9}}, both.Servers)
	must.Equal(t, [3]int{9, 10, 9}, [3]int{both.Format, both.Newest, both.Oldest}, "the formats")
	must.Equal(t, true, both.FinishesAt.IsZero(), "it moves by itself while an old server runs")
	f.does("old stops")
	f.does("new lives")
	if left := time.Until(show().FinishesAt); left < 71*time.Hour || left > 73*time.Hour {
		t.Errorf("it moves in %s", left)
	}
	f.does("new finishes")
	f.does("new lives")
	moved := show()
	must.Equal(t, []job.StoreServer{{Name: "new", Format: 10, Reads: 10}}, moved.Servers)
	must.Equal(t, [3]int{10, 10, 9}, [3]int{moved.Format, moved.Newest, moved.Oldest}, "the formats after that")
}

// Records are rewritten once no server writes the older forms, and then the store says so.
func TestNothingIsLeftOfTheOlderFormat(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		must.OK(t, rdb.Del(ctx, "rb:{00}:migrated").Err())
		must.OK(t, rdb.Set(ctx, "rb:{00}:format", 9, 0).Err())
		must.OK(t, s.Prepare(ctx))
		n := storetest.NewJob("u1")
		n.APIKey = "shop"
		queued := must.Get(s.Start(ctx, n))(t)
		p := "rb:{" + string(queued.ID[4:6]) + "}:"
		plant := func(words ...any) {
			t.Helper()
			must.OK(t, rdb.Do(ctx, words...).Err())
		}
		plant("ZREM", p+"line:ringback:key:shop:u1", string(queued.ID))
		plant("ZADD", p+"line:u1", 10000000000000+time.Now().UnixMilli(), string(queued.ID))
		plant("ZADD", p+"deadlines", 1e13, "purge|req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa")
		plant("HSET", p+"passed", "batch", 3)
		plant("SADD", "rb:{00}:failing", "https://example.com")
		plant("HSET", p+"action:run_1", "job", string(queued.ID), "state", "success", "callbackLeft", 5000)
		migrate := func(rewrite bool) (forms map[string]int, err error) {
			forms = map[string]int{}
			return forms, s.Nodes.Migrate(ctx, s.Service, rewrite, func(form string) { forms[form]++ })
		}
		want := map[string]int{
			"clocks that delete something, among the deadlines of jobs": 1, "keys that are no longer read": 2,
			"waiting jobs of an API key, in the queue of their user": 1, "runs of actions with their own callback clock": 1,
		}
		must.Equal(t, want, must.Get(migrate(false))(t), "what would be rewritten")
		_, err := migrate(true)
		must.Fail(t, err, "is in format 9", "while servers of the version before may write it")

		must.OK(t, s.Nodes.Finish(ctx))
		const slow = "9 one that has not noticed (reads 10)"
		plant("ZADD", "rb:{00}:servers", time.Now().Add(time.Hour).UnixMilli(), slow)
		soon, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		must.Fail(t, s.Nodes.Migrate(soon, s.Service, true, func(string) { t.Error("it rewrites what a server may write again") }), "deadline")
		plant("ZREM", "rb:{00}:servers", slow)
		plant("ZADD", "rb:{00}:servers", time.Now().Add(time.Hour).UnixMilli(), "9 old, which is started again and again")
		must.Equal(t, want, must.Get(migrate(true))(t), "what is rewritten")
		must.Equal(t, map[string]int{}, must.Get(migrate(false))(t), "what is left")
		must.Equal(t, 10, must.Get(s.Nodes.Format(ctx))(t).Oldest, "the oldest format")
		must.OK(t, rdb.Del(ctx, "rb:{00}:migrated").Err())
		must.Equal(t, map[string]int{}, must.Get(migrate(true))(t), "what is left, without the mark")
		if turn := s.Next(t, "n"); turn == nil || turn.Job.ID != queued.ID {
			t.Error("the waiting job is not taken")
		}
		must.Equal(t, 1e13, rdb.ZScore(ctx, p+"housekeeping", "purge|req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa").Val(), "the clock")
	})
}
