package lifecycle

import (
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

// A job expires if every turn meets a limit for too long. What was before it asked a person or was retried
// does not count.
func TestHowLongAJobWaitsForLimits(t *testing.T) {
	t.Parallel()
	short := limited(RateLimit{now.Add(time.Minute), false})
	for name, c := range map[string]struct {
		meanwhile func(*State)
		want      job.State
	}{
		"each turn meets one": {func(*State) {}, job.Expired},
		"it is retried": {func(st *State) {
			st.Session.Set(&Session{})
			st.Latest.Set(nil)
			st.Job.State = job.Expired
			must.OK(t, st.retry(st.Job.ID))
		}, job.Pending},
		"a turn asks a person": {func(st *State) {
			st.Job.State, st.Job.Phase = job.AwaitingInput, ""
			must.Get(st.endTurn(TurnEnd{ID: st.Job.ID, Turn: 1, Node: "n", Begun: true, Spoken: true, Again: true}))(t)
		}, job.Pending},
	} {
		st := jobIn("running")
		j := st.Job
		j.BlockedSince = now.Add(-2 * j.QueueTimeout)
		c.meanwhile(st)
		j.State, j.Phase, j.Owner, j.Turn = job.Running, job.AtWork, "n", 1
		must.Get(st.endTurn(short))(t)
		must.Equal(t, c.want, j.State, name)
	}
}
