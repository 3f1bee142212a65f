package approval_test

import (
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// What a script does before it calls git may choose which programs git runs.
func TestGitIsPlainOnlyIfNothingBeforeItConfiguresIt(t *testing.T) {
	t.Parallel()
	rules := approval.ToolRules{
		Ask: []string{"Bash"}, Deny: []string{"Bash(rm *)"},
		Allow: []string{"Bash(cp *)", "Bash(git status *)", "Bash(echo *)", "Bash(pwd *)", "Bash(tee *)"},
	}
	for command, want := range map[string]approval.Verdict{
		"git status":                             approval.Allow,
		"pwd && git status":                      approval.Allow,
		"echo x; git status -s":                  approval.Allow,
		"cp evil.cfg .git/config && git status":  approval.Ask,
		"git status; cp evil.cfg .git/config":    approval.Ask,
		"echo x > .git/config; git status":       approval.Ask,
		"echo x | tee .git/config && git status": approval.Ask,
	} {
		call := approval.ToolCall{
			Name: "Bash", Input: map[string]any{"command": command}, Dir: "/work", PlainRepository: func() bool { return true },
		}
		verdict, _ := verdictOf(rules, call)
		must.Equal(t, want, verdict, command)
	}
}

// On a node without the job's files, only the place of the directory is known.
func TestARelativeProgramIsInTheJobsOwnDirectory(t *testing.T) {
	t.Parallel()
	rules := approval.ToolRules{Ask: []string{"Bash"}, Allow: []string{"Bash(./check.sh)"}}
	for place, want := range map[string]approval.Verdict{"": approval.Allow, "sub": approval.Ask} {
		verdict, _ := verdictOf(rules, approval.ToolCall{
			Name: "Bash", Input: map[string]any{"command": "./check.sh"}, Dir: "/data/jobs/req_1/work/" + place, Place: place,
		})
		must.Equal(t, want, verdict, "in "+place)
	}
}
