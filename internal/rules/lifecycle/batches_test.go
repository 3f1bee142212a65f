package lifecycle_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// However many batches there are, they are bounded together; what was accepted can still be completed.
func TestBatchesAreBoundedTogether(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx, j := t.Context(), started(t, s)
		add := func(index, size int) (lifecycle.Outcome, error) {
			outcome, _, err := s.AddBatch(ctx, j.ID, lifecycle.NewBatch{
				Index: index, Digest: "d", Items: json.RawMessage(`["` + strings.Repeat("x", size-4) + `"]`), Count: 1, Others: lifecycle.AnyOthers,
			})
			return outcome, err
		}
		const some = 3 << 20
		for i := range 5 {
			must.Get(add(i+1, some))(t)
		}
		_, err := add(6, some)
		refused, ok := errors.AsType[*job.Error](err)
		if !ok || refused.Kind != job.TooLarge {
			t.Fatalf("one too many is answered %v", err)
		}
		must.Contain(t, refused.Message, "16 MiB", "the error", refused)
		must.Contain(t, refused.Hint, "1048576 fit", "the hint", refused)
		if outcome := must.Get(add(5, some))(t); outcome.Kind != lifecycle.Repeated {
			t.Errorf("one that was accepted is answered %s again", outcome)
		}
		must.Get(add(6, 1<<20))(t)
		outcome := must.Get(s.Accept(ctx, j.ID, lifecycle.Submission{
			Digest: "whole", Result: json.RawMessage(`{}`), Batches: 6, Partial: json.RawMessage(`{}`),
		}))(t)
		must.Equal(t, lifecycle.Accepted, outcome.Kind, "the final one")
	})
}
