package callback

import (
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/lifecycle"
)

// submit stores a result that passed its checks, and has the node that runs the turn
// go on with a change.
func (h *Handler) submit(in *call, k *kind.Kind, s lifecycle.Submission) (lifecycle.Outcome, error) {
	outcome, err := h.jobs.Accept(in.ctx, in.id, s)
	if err == nil && (outcome == lifecycle.Accepted || outcome == lifecycle.Repeated) && k.Policy.Workspace != nil {
		h.announceChange(in)
	}
	return outcome, err
}

// announceChange moves a job whose change was submitted to its next phase. By the
// event of that, its node hears that Claude has done its part. The change is stored
// already: where this is cut off, the node finds it with its next heartbeat.
func (h *Handler) announceChange(in *call) {
	j, err := h.store.Get(in.ctx, in.id)
	if err == nil && j.Submitted && (j.Phase == job.AtWork || j.Phase == job.Preparing) {
		err = h.jobs.SetPhase(in.ctx, in.id, j.Turn, j.Node, job.Capturing)
	}
	if err != nil {
		h.log.Warn("could not announce a change", "requestId", in.id, "error", err)
	}
}
