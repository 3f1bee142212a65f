package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// These tests need no store: they call the functions that decide.

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// jobIn returns a state with a job in one of the situations that rules distinguish.
func jobIn(situation string) *State {
	j := &Job{Record: Record{
		ID: "req_00_a", UserID: "u", SessionID: "s", EventPrefix: "k", State: job.State(situation), Turn: 1, MaxAttempts: 2,
		CallbackTimeout: time.Minute, Deadline: now.Add(time.Minute), QueueTimeout: time.Hour, Retention: time.Hour, Owner: "n", Entry: "1-0",
	}}
	st := loaded(j)
	switch situation {
	case "pending":
		j.Phase, j.Owner, j.Entry = job.Queued, "", ""
	case "running":
		j.Phase = job.AtWork
	case "running, late":
		j.State, j.Phase = job.Running, job.AtWork
		j.Secret.Set("")
	case "held":
		j.State, j.Phase = job.AwaitingInput, job.Held
		wait(st, j)
		st.Checkpoint.Get().Held = true
	case "parked":
		j.State, j.Owner, j.Entry = job.AwaitingApproval, "", ""
		wait(st, j)
	default:
		j.Owner, j.Entry = "", ""
		j.Secret.Set("")
	}
	return st
}

// loaded returns a state in which everything was loaded that there is of a job: itself and its session.
func loaded(j *Job) *State {
	st := &State{Now: now, Job: j}
	session := &Session{UserID: j.UserID, ID: j.SessionID}
	st.Session.Set(session)
	st.Checkpoint.Set(nil)
	st.Latest.Set(nil)
	st.Before.Set(nil)
	st.Waiting.Set(nil)
	st.Known.Set(KnownJob{})
	st.Interpreted.Set(nil)
	st.Asked.Set(nil)
	st.Earlier.Set(nil)
	st.EntryOwned.Set(false)
	st.Due.Set(time.Time{})
	st.Run.Set(nil)
	if j != nil {
		j.View.Set(job.Job{})
		j.Answers.Set(nil)
		j.Unread.Set(nil)
		j.Session.Set(session)
		j.Secret.Set(job.NewSecret())
		j.Calls.Set(map[string]Call{})
		j.Pending.Set(nil)
		j.Batches.Set(Batches{})
		j.Belongings.Set(new(Belongings))
		j.UserRunning.Set(0)
	}
	return st
}

func wait(st *State, j *Job) {
	j.Checkpoint, j.QuestionID, j.Question = "chk_00_a", "chk_00_a", "earlier"
	st.Checkpoint.Set(&Checkpoint{
		ID: "chk_00_a", JobID: j.ID, UserID: "u", SessionID: "s", Type: job.Confirmation, Status: job.Open, Timeout: time.Hour,
	})
}

// TestWhatAJobTakesInEachSituation checks the table of commands and situations,
// testdata/decisions.txt: the response, and after the arrow the job's new position, if it has
// moved.
func TestWhatAJobTakesInEachSituation(t *testing.T) {
	t.Parallel()
	situations := []string{"pending", "running", "running, late", "held", "parked", "received", "cancelled", "rejected", "expired", "failed"}
	commands := []struct {
		name   string
		decide func(*State) (any, error)
	}{
		{"StartTurn", func(st *State) (any, error) {
			st.EntryOwned.Set(true)
			j, err := st.startTurn(Options{UserLimit: 1}, Worker{Node: "n"}, QueueEntry{JobID: "req_00_a", Priority: job.Interactive, Entry: "2-0"}, "secret")
			return map[bool]string{true: "started", false: "not now"}[j != nil], err
		}},
		{"Accept", func(st *State) (any, error) { return st.accept(Submission{Digest: "d", Result: []byte(`{}`)}) }},
		{"AddBatch", func(st *State) (any, error) {
			o, _, err := st.addBatch(NewBatch{Index: 1, Others: AnyOthers})
			return o, err
		}},
		{"ReportFailure", func(st *State) (any, error) { return st.reportFailure("c", "no", false) }},
		{"Ask", func(st *State) (any, error) {
			o, _, _, err := st.ask(Options{HumanTimeout: time.Hour}, NewCheckpoint{RequestID: "req_00_a", Type: job.Confirmation, Digest: "new"}, "chk_00_b")
			return o, err
		}},
		{"StartAction", func(st *State) (any, error) { o, _ := st.startAction(NewRun{Run: "run_1"}); return o, nil }},
		{"Answer", func(st *State) (any, error) {
			_, err := st.answer(job.Checkpoint{ID: "chk_00_a", Status: job.Open}, Resolution{To: job.Answered}, "")
			return "taken", err
		}},
		{"Cancel", func(st *State) (any, error) {
			return "taken", st.end("req_00_a", job.Cancelled, job.CodeCancelled, "enough", Holder{})
		}},
		{"Retry", func(st *State) (any, error) { return "taken", st.retry("req_00_a") }},
		{"EndTurn", func(st *State) (any, error) {
			return st.endTurn(TurnEnd{ID: "req_00_a", Turn: 1, Node: "n", Again: true, Begun: true, Backoff: time.Second})
		}},
		{"callback clock", func(st *State) (any, error) {
			st.Due.Set(now)
			return "fired", st.fireForJob(CallbackClock, "req_00_a")
		}},
	}
	var got strings.Builder
	for _, c := range commands {
		for _, situation := range situations {
			st := jobIn(situation)
			before := st.Job.State
			answer, err := c.decide(st)
			if refused, ok := errors.AsType[*job.Error](err); ok {
				answer = "refused: " + string(refused.Kind)
			}
			fmt.Fprintf(&got, "%s, %s: %v", c.name, situation, answer)
			if st.Job.State != before {
				fmt.Fprintf(&got, " -> %s", strings.TrimSuffix(string(st.Job.State)+"/"+string(st.Job.Phase), "/"))
			}
			got.WriteString("\n")
		}
	}
	want := must.Get(os.ReadFile("testdata/decisions.txt"))(t)
	must.Equal(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
}

func TestWhichAnswersAreUsedUp(t *testing.T) {
	t.Parallel()
	yes, no := &job.Reply{Decision: job.Approve}, &job.Reply{Decision: job.Deny}
	j := &Job{Record: Record{Decisions: map[string]*approval.Decision{"k": {Checkpoint: "open"}}}}
	j.Answers.Set([]job.Checkpoint{
		{ID: "used", Type: job.Confirmation, Reply: yes},
		{ID: "open", Type: job.ToolApproval, Reply: yes},
		{ID: "denied", Type: job.Confirmation, Reply: no},
		{ID: "reviewed", Type: job.Review, Reply: yes},
		{ID: "told", Type: job.InformationRequest, Reply: &job.Reply{Text: "Rome"}},
		{ID: "silent", Type: job.Confirmation},
	})
	must.Equal(t, []job.CheckpointID{"used"}, j.usedUp())
}

// A turn that continues a decided tool call keeps its secret; every other one gets a new one. The
// store may have lost a first turn, whose process still exists.
func TestWhichTurnsKeepTheirSecret(t *testing.T) {
	t.Parallel()
	answered := func(asked job.CheckpointType) func(*Job) {
		return func(j *Job) {
			answer := job.Checkpoint{ID: "chk_00_a", Type: asked}
			if asked == job.ToolApproval {
				answer.ToolCallID, answer.Props = "toolu_1", json.RawMessage(`{"tool_name":"Bash"}`)
			}
			j.ResumeReason = &ResumeReason{Reason: Replied}
			j.Answers.Set([]job.Checkpoint{answer})
		}
	}
	for name, row := range map[string]struct {
		before func(*Job)
		keeps  bool
	}{
		"the first":                                {func(j *Job) { j.Turn = 0 }, false},
		"after an answer about a tool call":        {answered(job.ToolApproval), true},
		"after an answer about an action":          {answered(job.Confirmation), false},
		"after a review":                           {answered(job.Review), false},
		"after a question":                         {answered(job.InformationRequest), false},
		"retried, with an earlier answer":          {func(j *Job) { answered(job.ToolApproval)(j); j.ResumeReason.Reason = Retried }, false},
		"of a lost node, with an earlier answer":   {func(j *Job) { answered(job.ToolApproval)(j); j.ResumeReason.Reason = Lost }, false},
		"unfinished":                               {func(j *Job) { j.ResumeReason = &ResumeReason{Reason: Unfinished} }, false},
		"about a tool call, its secret ran out":    {func(j *Job) { answered(job.ToolApproval)(j); j.Secret.Set("") }, false},
		"of a follow-up, which begins with turn 0": {func(j *Job) { j.Turn = 0; j.Answers.Set([]job.Checkpoint{{Type: job.ToolApproval}}) }, false},
	} {
		st := jobIn("pending")
		st.Job.Secret.Set("old")
		row.before(st.Job)
		st.EntryOwned.Set(true)
		must.Get(st.startTurn(Options{UserLimit: 1}, Worker{Node: "n"}, QueueEntry{JobID: "req_00_a", Priority: job.Interactive, Entry: "2-0"}, "new"))(t)
		must.Equal(t, row.keeps, st.Job.Secret.Get() == "old", "the turn", name, "keeps the secret")
	}
}

// A checkpoint is deleted with its job: a reply to a remaining one fails, whatever the store still
// contains.
func TestReplyToACheckpointWhoseJobIsGone(t *testing.T) {
	t.Parallel()
	for _, to := range []job.CheckpointStatus{job.Answered, job.Interpreting, job.Superseded} {
		st := jobIn("parked")
		st.Job = nil
		body := job.Text(job.FromUser, "yes")
		_, err := st.answer(job.Checkpoint{ID: "chk_00_a", Status: job.Open}, Resolution{To: to, Message: &body, Again: &NewCheckpoint{}}, "chk_00_b")
		if refused, ok := errors.AsType[*job.Error](err); !ok || refused.Kind != job.NotFound || len(st.Effects) > 0 {
			t.Errorf("%s: %v, with %d effects", to, err, len(st.Effects))
		}
	}
}
