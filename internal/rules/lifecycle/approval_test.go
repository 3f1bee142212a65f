package lifecycle

import (
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// decisions are the possible decisions of a person when a job uses them.
var decisions = map[string]*approval.Decision{
	"none":    nil,
	"yes":     {Checkpoint: "chk_00_a", Until: now.Add(time.Minute)},
	"expired": {Checkpoint: "chk_00_a", Until: now.Add(-time.Minute)},
	"no":      {Checkpoint: "chk_00_a", Denied: true},
}

// decided returns the decisions of a job with one about an operation whose key is empty.
func decided(d *approval.Decision) map[string]*approval.Decision {
	if d == nil {
		return nil
	}
	return map[string]*approval.Decision{"": d}
}

func TestAnActionIsAuditedOnceAndForTheTrueReason(t *testing.T) {
	t.Parallel()
	deploy := job.Operation{Action: "deploy"}
	const claimed = "confirmed is true, but this input has no unused approval"
	for name, row := range map[string]struct {
		gated bool
		want  Outcome
		entry job.AuditEntry
	}{
		"yes":     {true, Outcome{Kind: Accepted}, job.AuditEntry{Event: "started", CheckpointID: "chk_00_a", Run: "run_1"}},
		"none":    {true, Outcome{Kind: Unapproved, Reason: claimed}, job.AuditEntry{Event: "refused", Detail: claimed}},
		"no":      {true, Outcome{Kind: Unapproved, Reason: claimed}, job.AuditEntry{Event: "refused", Detail: claimed}},
		"expired": {true, Outcome{Kind: Unapproved, Reason: approvalExpired}, job.AuditEntry{Event: "refused", Detail: "the approval has expired", CheckpointID: "chk_00_a"}},
		"ungated": {false, Outcome{Kind: Accepted}, job.AuditEntry{Event: "started", Run: "run_1"}},
	} {
		st := jobIn("running")
		st.Job.Decisions = decided(decisions[name])
		outcome, run := st.startAction(NewRun{Run: "run_1", AuditFields: deploy, Gated: row.gated})
		if outcome != row.want || outcome.OK() != (run == "run_1") {
			t.Errorf("%s: %s, run %q; want %s", name, outcome, run, row.want)
		}
		row.entry.Operation = deploy
		must.Equal(t, []job.AuditEntry{row.entry}, auditOf(t, st), name, "the audit log")
	}
}

// A call that has already run is neither started again nor refused again.
func TestARepeatedActionIsNotAuditedAgain(t *testing.T) {
	t.Parallel()
	st := jobIn("running")
	st.Job.KnownRuns = map[string]RunID{"": "run_0"}
	outcome, run := st.startAction(NewRun{Run: "run_1", Gated: true})
	if outcome != (Outcome{Kind: Repeated}) || run != "run_0" || len(st.Effects) != 0 {
		t.Errorf("%s, run %q, with %d effects", outcome, run, len(st.Effects))
	}
}

// A result that Claude has lost is for the round in which the action ran.
func TestACallAfterASteerIsANewOne(t *testing.T) {
	t.Parallel()
	for decision, want := range map[job.Decision]RunID{job.Approve: "run_0", job.Steer: "run_1"} {
		st := jobIn("running")
		st.Job.KnownRuns = map[string]RunID{"": "run_0"}
		st.keepAnswer(st.Job, &Checkpoint{Type: job.Review}, decision)
		_, run := st.startAction(NewRun{Run: "run_1"})
		must.Equal(t, want, run, "after", decision)
	}
}

func TestAToolCallIsAuditedOnceAndForTheTrueReason(t *testing.T) {
	t.Parallel()
	asked := must.Get(approval.OfTool("Bash", map[string]any{"command": "id"}, ""))(t)
	edited := must.Get(approval.OfTool("Bash", map[string]any{"command": "rm x"}, ""))(t)
	const expired, missing = "the approval has expired", "this call has no unused approval"
	standing := job.AuditEntry{Event: "allowed", Detail: "by the standing approval apr_1", Operation: asked}
	for _, row := range []struct {
		decision, standing string
		edited             bool
		rule               string
		want               Outcome
		entry              job.AuditEntry
	}{
		{decision: "yes", want: Outcome{Kind: Accepted}, entry: job.AuditEntry{Event: "started", CheckpointID: "chk_00_a", Operation: asked}},
		{decision: "yes", standing: "apr_1", want: Outcome{Kind: Accepted}, entry: job.AuditEntry{Event: "started", CheckpointID: "chk_00_a", Operation: asked}},
		{decision: "yes", edited: true, want: Outcome{Kind: Accepted}, entry: job.AuditEntry{Event: "started", CheckpointID: "chk_00_a", Operation: edited}},
		{
			decision: "yes", edited: true, rule: "Bash(rm *)", want: Outcome{Kind: Denied, Reason: "Bash(rm *)"},
			entry: job.AuditEntry{Event: "refused", Detail: "by the kind's rule Bash(rm *)", CheckpointID: "chk_00_a", Operation: edited},
		},
		{decision: "no", want: Outcome{Kind: Denied}},
		{decision: "no", standing: "apr_1", want: Outcome{Kind: Denied}},
		{
			decision: "expired", want: Outcome{Kind: Unapproved, Reason: expired},
			entry: job.AuditEntry{Event: "refused", Detail: expired, CheckpointID: "chk_00_a", Operation: asked},
		},
		{decision: "expired", standing: "apr_1", want: Outcome{Kind: Accepted}, entry: standing},
		{decision: "none", want: Outcome{Kind: Unapproved, Reason: missing}},
		{decision: "none", standing: "apr_1", want: Outcome{Kind: Accepted}, entry: standing},
	} {
		st := jobIn("running")
		st.Job.Decisions = decided(decisions[row.decision])
		if row.edited {
			st.Earlier.Set(&Checkpoint{ID: "chk_00_a", Reply: &job.Reply{Values: map[string]any{"command": "rm x"}}})
		}
		outcome, _, err := st.useApproval(ToolUse{
			RequestID: st.Job.ID, AuditFields: asked, Standing: row.standing, Decided: "chk_00_a", DeniedBy: row.rule,
		})
		if err != nil || outcome != row.want {
			t.Errorf("%s %s: %s, %v; want %s", row.decision, row.standing, outcome, err, row.want)
		}
		var want []job.AuditEntry
		if row.entry.Event != "" {
			want = append(want, row.entry)
		}
		must.Equal(t, want, auditOf(t, st), row.decision, row.standing, "the audit log")
	}
}

// A verdict is about the decision that the caller has read. If a person has decided again since, that one counts.
func TestAVerdictAboutAnotherDecisionIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, d := range decisions {
		for _, read := range []job.CheckpointID{"", "chk_00_earlier"} {
			st := jobIn("running")
			st.Job.Decisions = decided(d)
			outcome, _, err := st.useApproval(ToolUse{Decided: read, Standing: "apr_1"})
			must.OK(t, err)
			must.Equal(t, d != nil, outcome == Outcome{Kind: Stale}, "with", name, "the outcome is stale")
			must.Equal(t, d != nil, st.Job.Decisions[""] != nil, "the decision", name, "is kept")
		}
	}
}

// After the job's end, a standing approval allows nothing, and nothing is audited as allowed.
func TestNoApprovalIsUsedAfterTheJobsEnd(t *testing.T) {
	t.Parallel()
	for _, state := range []job.State{job.Received, job.Cancelled, job.Rejected, job.Expired, job.Failed} {
		st := jobIn(string(state))
		outcome, _, err := st.useApproval(ToolUse{Standing: "apr_1"})
		if err != nil || outcome != RefusedIn(state) || len(st.Effects) != 0 {
			t.Errorf("%s: %s, %v, with %d effects", state, outcome, err, len(st.Effects))
		}
	}
}
