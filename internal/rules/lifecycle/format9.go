package lifecycle

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ringback/internal/job"
)

// What records of format 9 have, or lack. This file goes when format 9 is no longer read.

// AllowedAt returns the checkpoints at which people have allowed something that is not over yet. A record of
// format 9 may name those of unused approvals in its Decisions only.
func (r *Record) AllowedAt() []job.CheckpointID {
	all := slices.Clone(r.Allowed)
	for _, key := range slices.Sorted(maps.Keys(r.Decisions)) {
		if d := r.Decisions[key]; !d.Denied && !slices.Contains(all, d.Checkpoint) {
			all = append(all, d.Checkpoint)
		}
	}
	return all
}

// LacksAllowed reports whether something is under way that a person has allowed at a checkpoint which is not
// among those of the record: the run of an action, or the publication of a change.
func (st *State) LacksAllowed() bool {
	r := st.Run.IfLoaded()
	gated := r != nil && r.State == RunRunning && r.ToolCallID != string(r.ID)
	return gated && st.allowedCall(st.Job, r.ToolCallID) == nil ||
		!st.Job.State.Terminal() && st.Job.Approved() && !slices.ContainsFunc(st.allowed(st.Job), (*Checkpoint).isReview)
}

// AddEarlierAllowed adds a checkpoint if what is under way was allowed there.
func (st *State) AddEarlierAllowed(c *Checkpoint) {
	r := st.Run.IfLoaded()
	if c != nil && st.LacksAllowed() && (c.isReview() && st.Job.Approved() || r != nil && c.ToolCallID == r.ToolCallID) {
		st.AddAllowed(c)
	}
}

// publicWords describes what of the job's change is public; "" if nothing is.
func (r *Record) publicWords() string {
	return cmp.Or(job.PublishedWords(r.PublishedCommits), r.PublicSoFar)
}

// Rewrite gives a job's record the form of format 10: the questions at which people have allowed what is not over,
// also for a run, and published in place of words. It reports whether the record lacked that. If rewrite is not set,
// it changes nothing.
func (s *Service) Rewrite(ctx context.Context, id job.ID, run RunID, published []job.Published, rewrite bool) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: id, Run: run}, func(st *State) (bool, error) {
		j := st.Job
		if j == nil {
			return false, nil
		}
		if j.PublicSoFar != "" && len(published) > 0 { // else the words are all that is known
			j.PublicSoFar = ""
			if len(j.PublishedCommits) == 0 {
				j.PublishedCommits = published
			}
		}
		lacked := !slices.Equal(j.Allowed, j.Loaded.Allowed) || j.PublicSoFar != j.Loaded.PublicSoFar
		if !rewrite {
			j.Record = j.Loaded
		}
		return lacked, nil
	})
}
