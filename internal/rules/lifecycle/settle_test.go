package lifecycle

import (
	"slices"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Whatever ends a turn, the messages in its prompt are read once: they wait for the next turn, unless the
// conversation contains them. Batches are kept as long as the conversation in which Claude made them.
func TestWhatRemainsOfATurn(t *testing.T) {
	t.Parallel()
	lost := func(st *State) error {
		_, err := st.loseNode(QueueEntry{JobID: st.Job.ID, Priority: job.Interactive, Entry: st.Job.Entry})
		return err
	}
	ends := func(e TurnEnd) func(*State) error {
		return func(st *State) error {
			e.ID, e.Turn, e.Node, e.Again = st.Job.ID, st.Job.Turn, st.Job.Owner, true
			_, err := st.endTurn(e)
			return err
		}
	}
	begins := func(st *State) { st.Job.Begun = true }
	calls := func(st *State) { st.Job.Begun, st.Job.FirstCallback = true, st.Now }
	continues := func(st *State) { st.Job.Begun, st.Job.ConversationAt = true, NameTurn(st.Job.ID, st.Job.Turn) }
	prompted := func(st *State) { continues(st); st.Job.Prompted = st.Job.Turn }
	goesOn := func(st *State) { calls(st); st.Job.ContinuesCall = true }
	for name, c := range map[string]struct {
		before func(*State)
		end    func(*State) error
		read   bool // the messages in the prompt
		left   bool // the conversation
	}{
		"its node is lost before it began":                  {func(*State) {}, lost, false, true},
		"its node is lost before it continued":              {begins, lost, false, false},
		"its node is lost before the prompt was added":      {continues, lost, false, false},
		"its node is lost after the prompt was added":       {prompted, lost, true, false},
		"its node is lost after a call that went on":        {goesOn, lost, false, false},
		"its node is lost after a callback":                 {calls, lost, true, false},
		"its process died before its first line":            {begins, ends(TurnEnd{Code: job.CodeCrashed}), false, true},
		"its process died after its first line":             {begins, ends(TurnEnd{Code: job.CodeCrashed, Begun: true}), false, false},
		"its process died after the prompt was added":       {begins, ends(TurnEnd{Code: job.CodeCrashed, Begun: true, Spoken: true}), true, false},
		"its process lost the conversation":                 {calls, ends(TurnEnd{Code: job.CodeCrashed}), false, true},
		"its process died after a callback, output unknown": {calls, ends(TurnEnd{Code: job.CodeCrashed, Begun: true}), true, false},
		"it could not start":                                {begins, ends(TurnEnd{Code: job.CodeCrashed, Unstarted: true}), false, false},
		"it hung before its first line":                     {begins, ends(TurnEnd{Code: job.CodeStalled}), false, false},
	} {
		for _, state := range []job.State{job.Running, job.AwaitingInput, job.Cancelled, job.Failed} {
			t.Run(name+", as it is "+string(state), func(t *testing.T) {
				t.Parallel()
				st := jobIn("running")
				if state == job.AwaitingInput {
					st = jobIn("held")
				}
				j := st.Job
				j.State, j.PendingMessages, j.DeliveredMessages, j.MaxAttempts = state, []int64{1, 2, 3}, 2, 9
				for message, turn := range []int{1, 1, 0} {
					hearing := job.Hearing{Status: job.Waiting, Turn: turn}
					j.Words = append(j.Words, Word{Word: job.Word{MessageID: int64(message) + 1, Hearing: hearing}})
				}
				conversation := j.ConversationID()
				c.before(st)
				must.OK(t, c.end(st))
				want := []int64{1, 2, 3}
				if c.read {
					want = []int64{3}
				}
				must.Equal(t, want, j.PendingMessages[j.DeliveredMessages:], "the next turn's messages")
				for _, w := range j.Words {
					must.Equal(t, !slices.Contains(want, w.MessageID), w.Status == job.Heard, "heard is message", w.MessageID)
				}
				must.Equal(t, c.left, j.ConversationID() != conversation, "the conversation is left")
				must.Equal(t, c.left, slices.Contains(st.Effects, Effect(DropBatches{j.ID})), "its batches are dropped")
			})
		}
	}
}
