package store_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// contents returns all keys of a Redis, with their values and whether they expire.
func contents(t *testing.T, rdb redis.UniversalClient) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range must.Get(rdb.Keys(t.Context(), "*").Result())(t) {
		expires := rdb.PTTL(t.Context(), key).Val() > 0
		all[key] = fmt.Sprint(expires, must.Get(rdb.Dump(t.Context(), key).Result())(t))
	}
	return all
}

func TestACopyOfAStoreHasAllOfIt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from, to := storetest.PrivateRedis(t), storetest.PrivateRedis(t)
	s := storetest.New(t, from, lifecycle.Options{UserLimit: 2})
	for n := range 40 {
		must.Get(s.Start(ctx, storetest.NewJob(fmt.Sprint("u", n))))(t)
	}
	must.OK(t, s.SignIns.SaveSignIn(ctx, "name", []byte("sealed"), time.Hour))
	must.OK(t, from.Set(ctx, "of:another:program", 1, 0).Err())
	copied := store.New(to, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
	must.OK(t, s.CopyTo(ctx, copied))
	want := contents(t, from)
	delete(want, "of:another:program")
	must.Equal(t, want, contents(t, to))
	must.Equal(t, true, errors.Is(s.CopyTo(ctx, copied), store.ErrInUse), "it can be copied once")

	must.OK(t, copied.SignIns.RemoveAll(ctx))
	left := contents(t, to)
	must.Equal(t, len(want)-1, len(left), "keys without the sign-in")
}

// No server starts with a copy that is not complete.
func TestAnIncompleteCopyIsNotUsed(t *testing.T) {
	t.Parallel()
	from, to := storetest.PrivateRedis(t), storetest.PrivateRedis(t)
	s := storetest.New(t, from, lifecycle.Options{UserLimit: 2})
	restricted := storetest.Restrict(t, to, store.Rights()...) // without +restore
	err := s.CopyTo(t.Context(), store.New(restricted, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler)))
	must.Fail(t, err, "restore")
	err = store.New(to, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler)).Prepare(t.Context())
	must.Equal(t, true, errors.Is(err, store.ErrFormat), err)
}
