package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// DoubtApprovals ends the approvals of a job that were not used when its store was copied: the original
// may have used them since. People learn that the outcome is not known, and are asked again. It returns
// how many there were.
func (s *Service) DoubtApprovals(ctx context.Context, id job.ID) (int, error) {
	return resultOf(ctx, s.run, Query{Job: id}, func(st *State) (int, error) {
		if st.Job == nil || st.Job.State.Terminal() {
			return 0, nil
		}
		j, ended := st.Job, 0
		for _, c := range st.allowed(j) {
			if c.Type == job.Review || !j.isUnused(c.ID) { // publishing a change again changes nothing
				continue
			}
			st.conclude(j, c, is(job.OutcomeUnknown, "the server continues a copy of its store, and the original may have run it"))
			st.failCall(j.chat(), c.ToolCallID, "unknown")
			j.useDecision(c.ApprovalKey)
			ended++
		}
		return ended, nil
	})
}
