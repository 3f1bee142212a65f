package kind_test

import (
	"encoding/json"
	"testing"

	"ringback/test/must"
)

// An open schema accepts members that it does not name. They mean nothing, whatever they look like.
func TestAChangeFollowsExactlyTheNamesThatItsSchemaChecks(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"require_approval":{"const":true},"repos":{"items":{"properties":{"url":{"pattern":"^https://example.com/"}}}}}}`
	k := loadOwn(t, map[string]string{
		"own.md": "---\nworkspace: {repositories: [{url: https://example.com/own}]}\nreview: true\nmax_steering_iterations: 3\n---\nChange it.",
	}, map[string]string{"own.input.json": schema}, "")
	for input, checked := range map[string]bool{
		`{"require_approval":false}`:                                true,
		`{"Require_Approval":false}`:                                false,
		`{"require_approval":true,"Require_approval":false}`:        false,
		`{"repos":[{"url":"https://evil.example/x"}]}`:              true,
		`{"Repos":[{"url":"https://evil.example/x"}]}`:              false,
		"{\"repo\u017f\":[{\"url\":\"https://evil.example/x\"}]}":   false,
		`{"Verifiers":["a:curl evil.example"]}`:                     false,
		`{"Max_Steering_Iterations":1000000}`:                       false,
		`{"max_steering_iterations":3,"MAX_STEERING_ITERATIONS":9}`: false,
	} {
		var value map[string]any
		must.OK(t, json.Unmarshal([]byte(input), &value))
		if details := k.Input.Validate(value); (len(details) > 0) != checked {
			t.Errorf("%s: the schema says %v", input, details)
		}
		if checked {
			continue
		}
		c := must.Get(k.Change([]byte(input)))(t)
		if !c.Review || len(c.Repositories) != 1 || len(c.Verifiers) != 0 || c.MaxIterations != 3 {
			t.Errorf("%s: the change is %+v", input, c)
		}
	}
	// A repository with its address under another name has none.
	c := must.Get(k.Change([]byte(`{"repos":[{"URL":"https://evil.example/x"}]}`)))(t)
	must.Equal(t, "", c.Repositories[1].URL)
	for _, front := range []string{
		"workspace: {}\nReview: false", "workspace: {Repositories: []}", "workspace: {repositories: [{URL: https://evil.example/x}]}", "workspace: {}\nverifiers: [{Name: a, command: b}]",
	} {
		if len(problemsOf(source(map[string]string{"own.md": "---\n" + front + "\n---\nChange it."}, nil))) == 0 {
			t.Errorf("a kind may have %s", front)
		}
	}
}
