package approval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/approval"
	"ringback/internal/job"
)

var toolRequest = approval.Request{Type: job.ToolApproval, UserID: "u1", RequestID: "req_1", Kind: "careful", Rule: "Bash"}

func TestWhatAYesPermits(t *testing.T) {
	t.Parallel()
	once := approval.Permission{Scope: job.Once, Life: time.Hour}
	inJob := approval.Permission{Scope: job.ForJob, Life: time.Hour, Standing: &job.Approval{UserID: "u1", Kind: "careful", Rule: "Bash", RequestID: "req_1"}}
	always := approval.Permission{Scope: job.Always, Life: time.Hour, Standing: &job.Approval{UserID: "u1", Kind: "careful", Rule: "Bash"}}
	for _, row := range []struct {
		says  string
		to    job.CheckpointType
		scope job.ApprovalScope
		want  approval.Permission
		fault string
	}{
		{"a yes to a tool call, once", job.ToolApproval, job.Once, once, ""},
		{"a yes that says no scope, once", job.ToolApproval, "", once, ""},
		{"a yes for the job, what the rule asks for in that job", job.ToolApproval, job.ForJob, inJob, ""},
		{"a yes for always, what the rule asks for in any job of the kind", job.ToolApproval, job.Always, always, ""},
		{"a yes to an action, once", job.Confirmation, job.Once, once, ""},
		{"a yes to an action for always, nothing", job.Confirmation, job.Always, once, "only calls of tools can be allowed for more than once"},
		{"a yes to a change for the job, nothing", job.Review, job.ForJob, once, "only calls of tools can be allowed for more than once"},
		{"a yes for another scope, nothing", job.ToolApproval, "forever", once, `found "forever"; allowed: once, job, always`},
	} {
		t.Run(row.says, func(t *testing.T) {
			t.Parallel()
			request := toolRequest
			request.Type = row.to
			got, fault := approval.Permit(request, row.scope, time.Hour)
			if fault != row.fault {
				t.Errorf("found fault %q, want %q", fault, row.fault)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatAStandingApprovalCovers(t *testing.T) {
	t.Parallel()
	given := func(change func(*job.Approval)) []job.Approval {
		a := job.Approval{ID: "apr_1", UserID: "u1", Kind: "careful", Rule: "Bash"}
		change(&a)
		return []job.Approval{a}
	}
	for _, row := range []struct {
		says   string
		given  []job.Approval
		covers bool
	}{
		{"none covers nothing", nil, false},
		{"one for always covers any job", given(func(*job.Approval) {}), true},
		{"one for this job covers it", given(func(a *job.Approval) { a.RequestID = "req_1" }), true},
		{"one for another job does not", given(func(a *job.Approval) { a.RequestID = "req_2" }), false},
		{"one for another kind does not", given(func(a *job.Approval) { a.Kind = "other" }), false},
		{"one for another rule does not", given(func(a *job.Approval) { a.Rule = "Bash(ls *)" }), false},
		{"one of another user does not", given(func(a *job.Approval) { a.UserID = "u2" }), false},
	} {
		t.Run(row.says, func(t *testing.T) {
			t.Parallel()
			found, covers := approval.Standing(row.given, toolRequest)
			if covers != row.covers || covers && found.ID != "apr_1" {
				t.Errorf("found %v %t, want %t", found, covers, row.covers)
			}
		})
	}
}
