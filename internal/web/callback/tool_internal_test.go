package callback

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
	"ringback/internal/turn/claude"
	"ringback/test/must"
)

// The schema of a tool refers to its own parts only, wherever its author's references led to.
func TestAToolsReferencesHold(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"by pointer":       `{"type":"object","properties":{"a":{"$ref":"#/$defs/text"}},"$defs":{"text":{"type":"string"}}}`,
		"by anchor":        `{"type":"object","properties":{"a":{"$ref":"#text"}},"$defs":{"text":{"$anchor":"text","type":"string"}}}`,
		"by its own $id":   `{"$id":"https://example.com/in","type":"object","properties":{"a":{"$ref":"https://example.com/in#/$defs/text"}},"$defs":{"text":{"type":"string"}}}`,
		"by $id and #":     `{"$id":"https://example.com/in#","type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"https://example.com/in"}}}`,
		"by another's $id": `{"type":"object","properties":{"a":{"$ref":"https://example.com/text"}},"$defs":{"text":{"$id":"https://example.com/text","type":"string"}}}`,
		"to all of it":     `{"type":"object","properties":{"a":{"type":"string"},"child":{"$ref":"#"}}}`,
	} {
		s := must.Get(schema.New(name, []byte(input)))(t)
		text := must.Get(json.Marshal(actionArguments(s.ForClaude())))(t)
		tool, err := schema.New(name, text)
		must.OK(t, err, string(text))
		must.Equal(t, []job.Detail{{Path: "/input/a", Message: "found the number 1; expected a string"}}, tool.Validate(map[string]any{"input": map[string]any{"a": json.Number("1")}}), name)
	}
}

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
