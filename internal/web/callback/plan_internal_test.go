package callback

import (
	"strings"
	"testing"

	"ringback/internal/turn/claude"
)

func TestAPlanThatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const approved = "# Plan\n1. move a"
	for name, c := range map[string]struct {
		tool, answer string
		told         bool
	}{
		"the same":            {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan:\n" + approved, false},
		"another":             {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan:\n# Plan\n1. delete a", true},
		"with a blank line":   {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan:\n" + approved + "\n", false},
		"extended at its end": {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan:\n" + approved + "\n2. delete b", true},
		"extended before":     {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan:\n0. delete b\n" + approved, true},
		"edited by the user":  {claude.ExitPlanMode, "User has approved your plan.\n\n## Approved Plan (edited by user):\n" + approved + "s", true},
		"denied":              {claude.ExitPlanMode, "The user denied this.", false},
		"of another tool":     {"Bash", "## Approved Plan:\n", false},
		"quoted in its front": {claude.ExitPlanMode, approved + "\n## Approved Plan:\n# Plan\n1. delete a", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := changedPlan([]map[string]any{{"tool_name": c.tool, "tool_input": map[string]any{"plan": approved}, "tool_response": c.answer}})
			if (told != "") != c.told || c.told && !strings.Contains(told, `"# Plan\n1. move a"`) {
				t.Errorf("Claude was told %q", told)
			}
		})
	}
}
