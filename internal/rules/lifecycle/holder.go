package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ringback/internal/job"
)

// Holder identifies the owner of a turn, for commands that only the owner may run. A zero Turn
// matches any turn, and an empty Node any node.
type Holder struct {
	Turn int
	Node string
}

// ErrSuperseded is returned when the node no longer owns the turn: it was silent for too long, and
// the job continues elsewhere.
var ErrSuperseded = errors.New("another node has taken over the turn")

// check returns ErrSuperseded if h does not own the job's turn.
func (h Holder) check(j *Job) error {
	if h.Turn != 0 && h.Turn != j.Turn || h.Node != "" && h.Node != j.Owner {
		return ErrSuperseded
	}
	return nil
}

// runs reports whether the job is running, and h owns its turn.
func (h Holder) runs(j *Job) bool { return j != nil && j.State == job.Running && h.check(j) == nil }

// SinceWait returns the time since a turn last waited for a person or an action, or else since it
// began; 0 while it waits. ErrSuperseded is returned if h does not own the turn.
func (s *Service) SinceWait(ctx context.Context, id job.ID, h Holder) (time.Duration, error) {
	return resultOf(ctx, s.run, Query{Job: id}, func(st *State) (time.Duration, error) {
		j := st.Job
		if j == nil || j.State.Terminal() {
			return 0, ErrSuperseded
		}
		isRun := func(c Call) bool { return c.Owner == EndedByRun }
		if j.State != job.Running || slices.ContainsFunc(slices.Collect(maps.Values(j.Calls.Get())), isRun) {
			return 0, h.check(j)
		}
		since := j.StartedAt
		if j.ResumedAt.After(since) {
			since = j.ResumedAt
		}
		return st.Now.Sub(since), h.check(j)
	})
}

// HasCalledBack reports whether Claude has called back in the latest turn of a job.
func (s *Service) HasCalledBack(ctx context.Context, id job.ID) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: id, RecordOnly: true}, func(st *State) (bool, error) {
		return st.Job != nil && !st.Job.FirstCallback.IsZero(), nil
	})
}

// holdsFor returns the maximum age of the information that a node owns a turn, at the moment when the node does
// something irreversible: far less than the time that a node may be silent, and enough for a slow store.
func (o Options) holdsFor() time.Duration { return o.NodeTimeout / 6 }

// Holds returns nil if the node owns the turn of a running job, as of a moment ago: see holdsFor. A
// node that was suspended in between checks again. Nothing else prevents the node's next action
// outside the store.
func (s *Service) Holds(ctx context.Context, id job.ID, h Holder) error {
	return s.holds(ctx, id, h, func(*Job) {})
}

// StartCLI is Holds for the moment before the CLI is started for a turn. It also records the CLI's
// version.
func (s *Service) StartCLI(ctx context.Context, id job.ID, h Holder, version string) error {
	return s.holds(ctx, id, h, func(j *Job) { j.CLIVersions = j.CLIVersions.with(j.Turn, version) })
}

func (s *Service) holds(ctx context.Context, id job.ID, h Holder, note func(*Job)) error {
	for {
		begin := time.Now()
		err := s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
			if !h.runs(st.Job) {
				return ErrSuperseded
			}
			note(st.Job)
			return nil
		})
		if err != nil || Elapsed(begin) < s.opts.holdsFor() {
			return err
		}
	}
}

// Elapsed returns the time since begin, by the clock that shows more: one clock stops while the
// machine sleeps, and the other may be set.
func Elapsed(begin time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(begin), now.Round(0).Sub(begin.Round(0)))
}

// SaveChange stores parts of a job's captured change, as JSON by name, replacing earlier ones. Only the owner of
// the turn may do it. If the job no longer exists, nothing is stored.
func (s *Service) SaveChange(ctx context.Context, id job.ID, h Holder, parts map[string]any) error {
	fields := make(map[string]string, len(parts))
	for name, part := range parts {
		fields[name] = string(job.MustJSON(part))
	}
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error { return st.saveChange(h, fields, nil) })
}

// SaveFinalized stores the outcome of publishing each repository so far, like SaveChange, and appends entries to
// the audit log. What is public is known from it: in the job, in its chat when it ends, and in what came of the
// approval.
func (s *Service) SaveFinalized(
	ctx context.Context, id job.ID, h Holder, outcomes []job.Finalized, happened ...job.AuditEntry,
) error {
	fields := map[string]string{"finalized": string(job.MustJSON(outcomes))}
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		err := st.saveChange(h, fields, happened)
		if err == nil && st.Job != nil {
			st.Job.PublishedCommits = job.PublishedIn(outcomes)
		}
		return err
	})
}

func (st *State) saveChange(h Holder, fields map[string]string, happened []job.AuditEntry) error {
	return st.ofHolder(h, func(j *Job) {
		st.do(SaveChange{j.ID, fields})
		for _, e := range happened {
			st.audit(j, e)
		}
	})
}

// ofHolder does something for a turn that only its owner may do, unless the job no longer exists.
func (st *State) ofHolder(h Holder, do func(*Job)) error {
	if st.Job == nil {
		return nil
	}
	if err := h.check(st.Job); err != nil {
		return err
	}
	do(st.Job)
	return nil
}

// KeepSubmission records that Claude is not needed any more for the submitted change: all of it is
// stored, or its publication begins. Losing the turn's node, or a failure of the server's own work, does
// not make Claude repeat it from now on.
func (s *Service) KeepSubmission(ctx context.Context, id job.ID, h Holder) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error { return st.ofHolder(h, (*Job).keepSubmission) })
}

func (j *Job) keepSubmission() {
	if j.Submitted && !j.isCaptured() {
		j.Captured, j.Attempt = j.ClaudeTurns, 0 // the turn has a result
	}
}
