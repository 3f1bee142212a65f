package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ringback/internal/job"
)

// Holder is the node that has a turn, for what only that one may do. Of the zero values,
// Turn stands for any turn and Node for any node.
type Holder struct {
	Turn int
	Node string
}

// ErrSuperseded is that a turn is not the node's any more: it was silent for too long, and
// the job goes on elsewhere.
var ErrSuperseded = errors.New("the turn is another node's by now")

// check returns ErrSuperseded where somebody else has the job's turn, or nobody.
func (h Holder) check(j *Job) error {
	if h.Turn != 0 && h.Turn != j.Turn || h.Node != "" && h.Node != j.Owner {
		return ErrSuperseded
	}
	return nil
}

// SinceWait returns how long ago a turn last waited for a person or an action, or else began; 0
// while it waits. ErrSuperseded is returned if h does not have the turn.
func (s *Service) SinceWait(ctx context.Context, id job.ID, h Holder) (ago time.Duration, err error) {
	err = s.run(ctx, Query{Job: id}, func(st *State) error {
		j := st.Job
		if j == nil || j.State.Terminal() {
			return ErrSuperseded
		}
		isRun := func(c Call) bool { return c.Owner == EndedByRun }
		if j.State != job.Running || slices.ContainsFunc(slices.Collect(maps.Values(j.Calls)), isRun) {
			ago = 0
			return h.check(j)
		}
		ago = st.Now.Sub(j.StartedAt)
		if !j.ResumedAt.IsZero() {
			ago = min(ago, st.Now.Sub(j.ResumedAt))
		}
		return h.check(j)
	})
	return ago, err
}

// holdsFor is how old the knowledge may be that a turn is a node's, at the moment when it
// does what cannot be undone. It is far less than what a node may be silent for.
const holdsFor = time.Second / 2

// Holds returns nil where the node has the turn of a running job, as the store knew half a
// second ago at the most: a node that was stopped meanwhile looks again. What it does next
// outside of the store, nothing else keeps it from.
func (s *Service) Holds(ctx context.Context, id job.ID, h Holder) error {
	return s.holds(ctx, id, h, func(*Job) {})
}

// StartCLI returns what Holds does, just before the CLI is started for a turn, and keeps which
// version of it that is.
func (s *Service) StartCLI(ctx context.Context, id job.ID, h Holder, version string) error {
	return s.holds(ctx, id, h, func(j *Job) { j.CLIVersions = j.CLIVersions.with(j.Turn, version) })
}

func (s *Service) holds(ctx context.Context, id job.ID, h Holder, note func(*Job)) error {
	for {
		begin := time.Now()
		err := s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
			if st.Job == nil || st.Job.State != job.Running {
				return ErrSuperseded
			}
			if err := h.check(st.Job); err != nil {
				return err
			}
			note(st.Job)
			return nil
		})
		if err != nil || elapsed(begin) < holdsFor {
			return err
		}
	}
}

// elapsed is how long ago something was, by whichever clock says more: one of them stands
// still while the machine sleeps, the other may be set.
func elapsed(begin time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(begin), now.Round(0).Sub(begin.Round(0)))
}

// SaveChange keeps parts of what was captured of a job's change, by their names and as
// JSON, in place of those before, and adds what happened to the audit log: for the holder of
// its turn alone. Of a job that is gone, nothing is kept.
func (s *Service) SaveChange(ctx context.Context, id job.ID, h Holder, parts map[string]any, happened ...job.AuditEntry) error {
	fields := make(map[string]string, len(parts))
	for name, part := range parts {
		fields[name] = string(mustMarshal(part))
	}
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error { return st.saveChange(h, fields, happened) })
}

func (st *State) saveChange(h Holder, fields map[string]string, happened []job.AuditEntry) error {
	if st.Job == nil {
		return nil
	}
	if err := h.check(st.Job); err != nil {
		return err
	}
	st.do(SaveChange{st.Job.ID, fields})
	for _, e := range happened {
		st.audit(st.Job, e)
	}
	return nil
}
