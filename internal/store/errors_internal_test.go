package store

import (
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
