package store

import (
	"context"
	"errors"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Each call reports an unavailable store as that, and is counted once; what is missing is no error of
// a pipeline and hides none.
func TestEachCallReportsAnUnavailableStore(t *testing.T) {
	t.Parallel()
	s := newTicking(t, noon)
	s.redis.SetError("LOADING Redis is loading the dataset in memory")
	single := s.Ping(t.Context())
	_, piped := s.latest(t.Context())
	for _, err := range []error{single, piped} {
		if !job.HasKind(err, job.Unavailable) {
			t.Errorf("the error is %v", err)
		}
	}
	must.Equal(t, 2, s.Errors(), "errors are counted")
	s.redis.SetError("")
	pipe := s.rdb.Pipeline()
	missing := pipe.Get(t.Context(), "rb:{00}:none")
	if _, err := pipe.Exec(t.Context()); err != nil || !isNil(missing.Err()) {
		t.Errorf("of a missing value: %v, %v", err, missing.Err())
	}
	pipe.Get(t.Context(), "rb:{00}:none")
	pipe.LLen(t.Context(), "rb:{00}:format")
	if _, err := pipe.Exec(t.Context()); !job.HasKind(err, job.Internal) {
		t.Errorf("behind a missing value, a refused command is %v", err)
	}
}

// If the store fails, a request is told that nothing was changed only if that is certain.
func TestWhatIsKnownOfARequestThatTheStoreInterrupts(t *testing.T) {
	t.Parallel()
	read := func(ctx context.Context, s *ticking) error { _, err := s.latest(ctx); return err }
	write := func(ctx context.Context, s *ticking) error { return s.Chats.Remember(ctx, "s1", "u1", true) }
	for name, c := range map[string]struct {
		before func(context.Context, *ticking) error
		fault  string // Redis' answer; empty if the connection is lost
		fails  func(context.Context, *ticking) error
		want   string
	}{
		"a read":                                   {fault: "LOADING", fails: read, want: nothingChanged},
		"a read without a connection":              {fails: read, want: nothingChanged},
		"a read after a read":                      {before: read, fails: read, want: nothingChanged},
		"a read after a write":                     {before: write, fault: "LOADING", fails: read, want: maybeChanged},
		"a read without a connection after one":    {before: write, fails: read, want: maybeChanged},
		"a write that Redis refuses":               {fault: "OOM command not allowed", fails: write, want: nothingChanged},
		"a write that is refused after a write":    {before: write, fault: "OOM command not allowed", fails: write, want: maybeChanged},
		"a write during a restart, sent before it": {fault: "LOADING", fails: write, want: maybeChanged},
		"a write whose connection is lost":         {fails: write, want: maybeChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := newTicking(t, noon), TrackWrites(t.Context())
			if c.before != nil {
				must.OK(t, c.before(ctx, s))
			}
			if c.fault != "" {
				s.redis.SetError(c.fault)
			} else {
				s.redis.Close()
			}
			var e *job.Error
			if err := c.fails(ctx, s); !errors.As(err, &e) || e.Hint != c.want {
				t.Errorf("the error is %+v, want the hint %q", e, c.want)
			}
			untracked := job.Error{}
			if err := c.fails(t.Context(), s); errors.As(err, &e) {
				untracked = *e
			}
			must.Equal(t, maybeChanged, untracked.Hint, "without a request")
		})
	}
}
