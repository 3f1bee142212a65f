package approval_test

import (
	"fmt"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
)

// The rules of a kind, and what becomes of some calls.
func ExampleToolRules_Judge() {
	rules := approval.ToolRules{
		Ask:   []string{"Bash"},
		Allow: []string{"Bash(go test ./...)"},
		Deny:  []string{"Bash(rm *)"},
	}
	for _, command := range []string{"go test ./...", "go test ./... && git push", "go test $(rm -r .)"} {
		j := rules.Judge(approval.ToolCall{Name: "Bash", Input: map[string]any{"command": command}, Dir: "/work"})
		fmt.Printf("%s: %s by %s\n", command, j.Verdict, j.Permits)
	}
	// Output:
	// go test ./...: allow by Bash(go test ./...)
	// go test ./... && git push: ask by Bash: {"command":"go test ./... && git push"}
	// go test $(rm -r .): deny by Bash(rm *)
}

// A yes permits what has the same key: the order of an input's keys is no matter.
func ExampleKey() {
	asked, _ := approval.OfAction("deploy", map[string]any{"name": "shop", "size": 3})
	again, _ := approval.OfAction("deploy", map[string]any{"size": 3.0, "name": "shop"})
	other, _ := approval.OfAction("deploy", map[string]any{"name": "shop", "size": 4})
	fmt.Println(approval.Key(again) == approval.Key(asked), approval.Key(other) == approval.Key(asked))
	// Output: true false
}

// A yes "for the job" permits what the same rule asks for, until the job ends.
func ExamplePermit() {
	request := approval.Request{Type: job.ToolApproval, UserID: "u1", RequestID: "req_1", Kind: "careful", Rule: "Bash"}
	permission, fault := approval.Permit(request, job.ForJob, time.Hour)
	fmt.Printf("%s: %s in %s%s\n", permission.Scope, permission.Standing.Rule, permission.Standing.RequestID, fault)

	_, covered := approval.Standing([]job.Approval{*permission.Standing}, request)
	fmt.Println(covered)
	// Output:
	// job: Bash in req_1
	// true
}
