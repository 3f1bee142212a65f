package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// slowStore is a store with one running turn. Each of its calls takes some time.
type slowStore struct {
	lifecycle.Store
	by time.Duration
	// paused is how much longer the first call takes, because its server was suspended.
	paused time.Duration
	owner  string
}

func (s *slowStore) Load(ctx context.Context, _ lifecycle.Query) (*lifecycle.State, error) {
	st := &lifecycle.State{Job: &lifecycle.Job{}}
	st.Job.State, st.Job.Turn, st.Job.Owner = job.Running, 1, s.owner
	<-time.After(s.by + s.paused)
	if s.paused > 0 { // meanwhile, another node has taken over
		s.paused, s.owner = 0, "other"
	}
	return st, ctx.Err()
}

func (s *slowStore) Commit(context.Context, *lifecycle.State) (bool, error) {
	<-time.After(s.by)
	return true, nil
}

// A turn starts however slow the store is, but not on what a node knew before it was suspended.
func TestATurnStartsOnASlowStore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		by, paused time.Duration
		err        error
	}{
		"a fast store":                            {time.Millisecond, 0, nil},
		"a slow store":                            {550 * time.Millisecond, 0, nil},
		"a store that is almost unavailable":      {2 * time.Second, 0, nil},
		"the node was suspended during the check": {time.Millisecond, 40 * time.Second, lifecycle.ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := lifecycle.New(&slowStore{by: row.by, paused: row.paused, owner: "n"}, nil, lifecycle.Options{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := s.StartCLI(ctx, "req_1", lifecycle.Holder{Turn: 1, Node: "n"}, "1.0")
				must.Equal(t, true, errors.Is(err, row.err), err)
				must.OK(t, ctx.Err())
			})
		})
	}
}
