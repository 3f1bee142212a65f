package job_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Only a question that the server composed has wordings of its own for a yes and a no, and only one
// about no call of Claude's takes no change.
func TestWhatAQuestionsPropsDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		props          string
		worded, change bool
	}{
		"an action of a kind":       {`{"action":"deploy","yes":{"label":"Yes, Deploy"},"no":{"label":"No"},"asked":{"segments":[]}}`, true, true},
		"Claude's own question":     {`{"action":"deploy","yes":{"label":"No"},"no":{"label":"Yes"},"more_usd":1}`, false, true},
		"a tool call":               {`{"tool_name":"Bash","asked":{"segments":[]}}`, false, true},
		"a budget that is used up":  {`{"more_usd":1,"asked":{"segments":[]}}`, false, false},
		"a change under review":     {`{"iteration":1}`, false, true},
		"a question without a word": {`{}`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p job.Props
			must.OK(t, json.Unmarshal([]byte(c.props), &p))
			yes, no := p.Answers()
			must.Equal(t, c.worded, yes != nil && no != nil && len(yes.Texts()) > 0, "its own wordings count")
			must.Equal(t, c.change, p.TakesChange(), "a change can be asked for")
		})
	}
}
