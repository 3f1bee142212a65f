package lifecycle

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// The process of a lost node may still exist: it cannot call back for the turn that follows, unless that is the
// server's own and has no process of Claude's. Claude is told that its turn was interrupted.
func TestTheProcessOfALostNodeCannotCallBack(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*Job){
		"Claude is at work":                       func(*Job) {},
		"its change is submitted, but not stored": func(j *Job) { j.Submitted = true },
	} {
		st := jobIn("running")
		j := st.Job
		j.Secret.Set("old")
		j.HasWorkspace, j.Begun, j.MaxAttempts, j.Node = true, true, 9, "n"
		j.ResumeReason = &ResumeReason{Reason: Replied} // the turn began with a reply about a tool call
		j.Answers.Set([]job.Checkpoint{{ID: "chk_00_a", Type: job.ToolApproval, ToolCallID: "toolu_1", Props: json.RawMessage(`{"tool_name":"Bash"}`)}})
		prepare(j)
		must.Get(st.loseNode(QueueEntry{JobID: j.ID, Priority: job.Interactive, Entry: j.Entry}))(t)
		must.OK(t, st.retryNow(j))
		st.EntryOwned.Set(true)
		j.UserRunning.Set(0)
		must.Get(st.startTurn(Options{UserLimit: 9}, Worker{Node: "m"}, QueueEntry{JobID: j.ID, Priority: job.Interactive, Entry: "9-0"}, "new"))(t)
		must.Equal(t, job.Secret("new"), j.Secret.Get(), name)
		must.Equal(t, Lost, j.ResumeReason.Reason, name)
		must.Equal(t, false, j.ContinuesCall, name)
	}
}
