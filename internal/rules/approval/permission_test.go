package approval_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/test/must"
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
		{"a yes to an action for always, nothing", job.Confirmation, job.Always, once, "only tool calls can be approved for more than one call"},
		{"a yes to a change for the job, nothing", job.Review, job.ForJob, once, "only tool calls can be approved for more than one call"},
		{"a yes for another scope, nothing", job.ToolApproval, "forever", once, `found "forever"; allowed: once, job, always`},
	} {
		t.Run(row.says, func(t *testing.T) {
			t.Parallel()
			request := toolRequest
			request.Type = row.to
			got, fault := approval.Permit(request, row.scope, time.Hour)
			must.Equal(t, row.fault, fault, "found fault")
			if s := got.Standing; s != nil { // what the rule lets through is said with the rule
				if want := approval.Covers(s.Rule, nil).Segments; !slices.Equal(s.Covers, want) {
					t.Errorf("it is said to let through %v, want %v", s.Covers, want)
				}
				s.Covers = nil
			}
			must.Equal(t, row.want, got)
		})
	}
}

// A yes for more than once stores the rule that was shown, and the next call is
// covered where its own rule is that one.
func TestWhatAYesToOneCallPermitsOfAnother(t *testing.T) {
	t.Parallel()
	const all, push, denied = "ask Bash", "allow Bash; ask Bash(git push *)", "ask Bash; allow Bash(true *); deny Bash(rm *)"
	for _, row := range []struct {
		rules, yesTo, then string
		covered            bool
		because            string
	}{
		{all, "Bash: touch a", "Bash: touch b", true, "both are seen to be calls of Bash"},
		{all, "Bash: touch a", "Bash: touch a && ls", true, "all that runs is seen"},
		{all, "Bash: touch a", "Bash: go vet ./...", false, "nobody knows what else it runs"},
		{all, "Bash: go vet ./...", "Bash: go vet ./...", true, "it is the same"},
		{all, "Bash: touch a", `Bash: sh -c "rm -rf x"`, false, "it cannot be seen what runs"},
		{all, "Bash: touch a", "Bash: FOO=1 make", false, "it cannot be seen what runs"},
		{all, "Bash: touch a", "Bash: git -c alias.x=!id x", false, "git runs what its argument says"},
		{all, "Bash: touch a", "Bash: touch $(id)", false, "it cannot be seen what runs"},
		{all, "Bash: FOO=1 make", "Bash: FOO=1 make", true, "it is the same"},
		{all, "Bash: FOO=1 make", "Bash: FOO=2 make", false, "it is another one"},
		{all, "Bash: FOO=1 make", `Bash: sh -c "rm -rf x"`, false, "neither can be judged, and only one was allowed"},
		{all, "Bash: FOO=1 make", "Bash: touch a", false, "only the other was allowed"},
		{all, "Bash: FOO=* make", "Bash: FOO=1 make", false, "what was allowed is no pattern"},
		{denied, "Bash: FOO=1 make", `Bash: sh -c "rm -rf x"`, false, "neither can be judged, and only one was allowed"},
		{denied, "Bash: touch a", `Bash: sh -c "rm -rf x"`, false, "it may be what is denied"},
		{denied, "Bash: touch a", "Bash: touch b", true, "both are seen"},
		{push, "Bash: git push", "Bash: git push origin main", false, "a push runs hooks: only the one was seen"},
		{"allow Bash; ask Bash(git push)", "Bash: git push", "Bash: git push", true, "it is the same"},
		{push, "Bash: git push", "Bash: git push; curl evil.test", false, "it does something else beside"},
		{push, "Bash: git push; curl evil.test", "Bash: git push", false, "the rule does not say what was allowed"},
		{push, "Bash: git push", "Bash: git -C elsewhere push", false, "it cannot be seen whether the rule says that"},
		{push, "Bash: git push", "Bash: eval git push", false, "it cannot be seen whether the rule says that"},
		{push, "Bash: git push", "Bash: git push --receive-pack=id", false, "git runs what its argument says"},
		{"ask Bash; ask Bash(git push *)", "Bash: touch a", "Bash: git push", false, "another rule asks for it"},
		{"ask Bash(git *); ask Bash(git push *)", "Bash: git status", "Bash: git push", false, "another rule asks for it"},
		{"ask Bash(git *); ask Bash(git push *)", "Bash: git status", "Bash: git log", true, "no other rule asks for it"},
		{"ask Bash(git *); deny Bash(git push *)", "Bash: git status", "Bash: git --no-pager push", false, "it may be what is denied"},
		{"ask *", "Read: a", "Read: b", true, "both are calls of Read"},
		{"ask *", "Read: a", "Bash: ls", false, "a person who has seen Read has not seen Bash"},
		{"ask Write", "Write: a", "Write: b", true, "both are calls of Write"},
		{"ask Write; ask Write(config/**)", "Write: a", "Write: config/b", false, "another rule asks for it"},
	} {
		t.Run(row.rules+"/"+row.yesTo+"/"+row.then, func(t *testing.T) {
			t.Parallel()
			asks := func(call string) approval.Request {
				verdict, rule := verdictOf(rulesOf(t, row.rules), callOf(t, call))
				if verdict != approval.Ask && (row.covered || verdict != approval.Deny) {
					t.Fatalf("%s: found %q", call, verdict)
				}
				return approval.Request{Type: job.ToolApproval, UserID: "u1", RequestID: "req_1", Kind: "careful", Rule: rule}
			}
			yes, fault := approval.Permit(asks(row.yesTo), job.Always, time.Hour)
			if fault != "" {
				t.Fatal(fault)
			}
			_, covered := approval.Standing([]job.Approval{*yes.Standing}, asks(row.then))
			must.Equal(t, row.covered, covered, "a yes that permits", yes.Standing.Rule, row.because)
		})
	}
}

// What a program runs that may run others depends on the directory.
func TestARuleOfAYesIsForTheJobsOwnDirectory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rules, call string
		masked      bool
		want        string
	}{
		{"ask Bash(make test)", "Bash: make test", false, `Bash: {"command":"make test"} in the directory "vendor/a"`},
		{"ask Bash(make *)", "Bash: make test", true, `Bash: {"command":"make test"} in the directory "vendor/a"`},
		{"ask Bash(make test)", "Bash: make test && make test", false, `Bash: {"command":"make test && make test"} in the directory "vendor/a"`},
		{"ask Bash(cp *)", "Bash: cp a b", false, "Bash(cp *)"},
		{"ask Bash", "Bash: cp a b", false, "Bash"},
		{"ask Write", "Write: a", false, "Edit"},
	} {
		call := callOf(t, row.call)
		call.Root, call.Masked = call.Dir, row.masked
		_, own := verdictOf(rulesOf(t, row.rules), call)
		must.Equal(t, false, strings.Contains(own, "{"), row.rules, "in the job's own directory", own)
		call.Place = "vendor/a"
		call.Dir += "/" + call.Place
		_, rule := verdictOf(rulesOf(t, row.rules), call)
		must.Equal(t, row.want, rule, row.rules, row.call)
	}
}

// An earlier version stored the rule that asks, where a rule for all tools of its class is permitted now.
// It still permits the tool that it names, and no more.
func TestAnApprovalThatAnEarlierVersionStored(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rules, stored string
		call          approval.ToolCall
		covered       bool
		because       string
	}{
		{"ask Write(config/**)", "Write(config/**)", callOf(t, "Write: config/a"), true, "it was given for this"},
		{"ask Write(config/**)", "Edit(config/**)", callOf(t, "Write: config/a"), true, "it is what is stored now"},
		{"ask Write(config/**)", "Write(config/**)", callOf(t, "Edit: config/a"), false, "the person has seen Write"},
		{"ask Write(config/**)", "Write(config/**)", callOf(t, "Bash: touch config/a"), false, "the person has seen Write"},
		{"ask Edit(config/**)", "Write(config/**)", callOf(t, "Write: config/a"), false, "another rule asks now"},
		{"ask Write(config/**); ask NotebookEdit(config/**)", "Write(config/**)", callOf(t, "Write: config/a"), false, "another rule asks, too"},
		{"ask Write(config/**); deny Bash(touch *)", "Write(config/**)", callOf(t, "Write: config/a"), true, "no rule denies it"},
		{"ask NotebookEdit", "NotebookEdit", callOf(t, "NotebookEdit: a.ipynb"), true, "it was given for this"},
		{"ask NotebookEdit", "NotebookEdit", callOf(t, "Write: a"), false, "the person has seen NotebookEdit"},
		{"ask Grep(src/**)", "Grep(src/**)", approval.ToolCall{Name: "Grep", Input: map[string]any{"pattern": "x", "path": "src/a"}, Dir: "/work"}, true, "it was given for this"},
		{"ask Grep(src/**)", "Grep(src/**)", callOf(t, "Read: src/a"), false, "the person has seen Grep"},
		{"ask *", "Task", approval.ToolCall{Name: "Task", Input: map[string]any{"prompt": "x"}}, true, "it is the same tool"},
		{"ask *", "Task", callOf(t, "Read: src/a"), false, "it is another tool"},
		{"ask Edit(config/**)", "Edit(config/**)", callOf(t, "Bash: touch config/a"), false, "a command is allowed as it is"},
	} {
		t.Run(row.rules+"/"+row.stored+"/"+row.call.Name, func(t *testing.T) {
			t.Parallel()
			judged := rulesOf(t, row.rules).Judge(row.call)
			must.Equal(t, approval.Ask, judged.Verdict)
			request := toolRequest
			request.Rule, request.Asking, request.Tool = judged.Permits, judged.Rule, row.call.Name
			_, covered := approval.Standing([]job.Approval{{UserID: "u1", Kind: "careful", Rule: row.stored}}, request)
			must.Equal(t, row.covered, covered, row.because, judged.Permits)
		})
	}
}

func TestAChangedInputIsAllowedOnce(t *testing.T) {
	t.Parallel()
	request := toolRequest
	request.Changed = true
	if p, fault := approval.Permit(request, job.Always, time.Hour); fault == "" || p.Standing != nil || p.Scope != job.Once {
		t.Errorf("found %v %q", p, fault)
	}
	_, fault := approval.Permit(request, job.Once, time.Hour)
	must.Equal(t, "", fault)
}

// What a person is shown for one call is that call, and one that is not all in sight
// is shown so that it is.
func TestTheRuleOfOneCall(t *testing.T) {
	t.Parallel()
	bash := func(input map[string]any) approval.ToolCall {
		return approval.ToolCall{Name: "Bash", Input: input, Dir: "/work"}
	}
	for _, row := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{"command": "FOO=1 make"}, `Bash: {"command":"FOO=1 make"}`},
		{map[string]any{"command": "FOO=1 make", "description": "Builds", "timeout": 5}, `Bash: {"command":"FOO=1 make","description":"Builds","timeout":5}`},
		{map[string]any{"command": `{"command":"FOO=1 make"}`}, `Bash: {"command":"{\"command\":\"FOO=1 make\"}"}`},
		{map[string]any{"command": "FOO=1 make && <a>"}, `Bash: {"command":"FOO=1 make && <a>"}`},
		{map[string]any{"command": "FOO=1 make\nid"}, `Bash: {"command":"FOO=1 make\nid"}`},
		{map[string]any{"command": "FOO=1 make\u202e"}, `Bash: {"command":"FOO=1 make\u202e"}`},
		{map[string]any{"command": "FOO=1 make", "dangerouslyDisableSandbox": true}, `Bash: {"command":"FOO=1 make","dangerouslyDisableSandbox":true}`},
	} {
		verdict, rule := verdictOf(rulesOf(t, "ask Bash"), bash(row.input))
		if verdict != approval.Ask || rule != row.want {
			t.Errorf("%v: found %q by %q, want %q", row.input, verdict, rule, row.want)
		}
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
