package callback_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// A submitted change ends Claude's part, but not its job: the node is notified by the
// event of the phase. A retry by curl must not revert later progress.
func TestASubmittedChangeMovesItsJobOn(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("fix")
	move := func(p job.Phase) {
		t.Helper()
		must.OK(t, turn.jobs.SetPhase(t.Context(), turn.id, lifecycle.Holder{Turn: 1, Node: "n"}, p))
	}
	var seen []job.Phase
	for _, step := range []struct {
		before job.Phase
		call   func()
	}{
		{call: func() {}},
		{job.AtWork, func() { turn.want(400, "result", object{"summary": 5}) }},
		{call: func() { turn.want(200, "result", object{"summary": "x"}) }},
		{call: func() { turn.want(200, "result", object{"summary": "x"}) }},
		{job.Verifying, func() { turn.want(200, "result", object{"summary": "x"}) }},
		{call: func() { turn.want(409, "result", object{"summary": "y"}) }},
	} {
		if step.before != "" {
			move(step.before)
		}
		step.call()
		j := turn.job()
		must.Equal(t, job.Running, j.State)
		seen = append(seen, j.Phase)
	}
	must.Equal(t, []job.Phase{job.Preparing, job.AtWork, job.Capturing, job.Capturing, job.Verifying, job.Verifying}, seen, "the phases")
}
