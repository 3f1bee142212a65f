package callback_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

func TestOneResult(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	turn.want(400, "result", object{"title": 5})
	turn.want(200, "result", object{"title": "x", "more": []any{1, 2}})
	turn.want(200, "result", object{"more": []any{1, 2}, "title": "x"})
	must.Contain(t, turn.want(409, "result", object{"title": "y"}).text("hint"), "first result counts")
	j := turn.job()
	if j.State != job.Received || string(j.Result) != `{"more":[1,2],"title":"x"}` {
		t.Errorf("the job is %s with %s", j.State, j.Result)
	}
}

func TestClaudeGivesUp(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		payload object
		state   job.State
		code    job.Code
	}{
		"without a code":     {object{"error": "No recipes"}, job.Failed, job.CodeGaveUp},
		"with a code":        {object{"error": "No recipes", "errorCode": "no_recipes"}, job.Failed, "no_recipes"},
		"that may pass":      {object{"error": "No recipes", "retryable": true}, job.Running, ""},
		"that does not pass": {object{"error": "No recipes", "retryable": false}, job.Failed, job.CodeGaveUp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("note")
			turn.want(200, "failure", row.payload)
			if j := turn.job(); j.State != row.state || j.ErrorCode != row.code {
				t.Errorf("the job is %s %s, want %s %s", j.State, j.ErrorCode, row.state, row.code)
			}
		})
	}
}

// A code that Ringback reports is no evidence if Claude could report it, too.
func TestClaudeReportsNoneOfRingbacksCodes(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	for _, code := range []job.Code{job.CodeCancelled, job.CodeRejected, job.CodeBudgetExceeded, job.CodeUsageLimit} {
		answer := turn.want(400, "failure", object{"error": "No recipes", "errorCode": code})
		must.Contain(t, answer.details()["/errorCode"], "which only Ringback itself reports", code)
	}
	must.Equal(t, job.Running, turn.job().State, "the job is")
	turn.want(200, "failure", object{"error": "No recipes", "errorCode": job.CodeGaveUp})
}

// meals returns n suggestions for one date.
func meals(n int) []any {
	list := []any{}
	for range n {
		list = append(list, object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": "Soup"}})
	}
	return list
}

func TestAResultInBatches(t *testing.T) {
	t.Parallel()
	type sent struct {
		says    string
		payload object
		status  int
		// total is returned on success; otherwise, at is the path of the first detail.
		total float64
		at    string
	}
	turn := startServer(t, callback.Options{}).start("meal-suggestions")
	for _, step := range []sent{
		{"the first is kept", object{"batch": 1, "suggestions": meals(2)}, 200, 2, ""},
		{"the same again is the same", object{"batch": 1, "suggestions": meals(2)}, 200, 2, ""},
		{"another of its number is refused", object{"batch": 1, "suggestions": meals(1)}, 409, 0, ""},
		{"an item that does not fit is named", object{"batch": 2, "suggestions": []any{object{"date": 5}}}, 400, 0, "/suggestions/0/date"},
		{"a number is needed", object{"suggestions": meals(1)}, 400, 0, ""},
		{"numbers begin with 1", object{"batch": 0, "suggestions": meals(1)}, 400, 0, "/batch"},
		{"a gap is named by the final one", object{"batch": 3, "final": true, "suggestions": meals(1), "reasoning": "x"}, 400, 0, "/batch"},
		{"the second is kept", object{"batch": 2, "suggestions": meals(1)}, 200, 3, ""},
		{"the final one has the highest number", object{"batch": 2, "final": true, "suggestions": meals(1), "reasoning": "x"}, 400, 0, "/batch"},
		{"the final one makes the result", object{"batch": 3, "final": true, "suggestions": meals(1), "reasoning": "x"}, 200, 4, ""},
		{"the same final one again is the same", object{"batch": 3, "final": true, "suggestions": meals(1), "reasoning": "x"}, 200, 4, ""},
		{"another final one is refused", object{"batch": 3, "final": true, "suggestions": meals(2), "reasoning": "x"}, 409, 0, ""},
	} {
		a := turn.call("suggestions/batch", step.payload)
		if a.Status != step.status {
			t.Fatalf("%s: answered %d %v", step.says, a.Status, a.Body)
		}
		if step.status == 409 && !strings.Contains(a.text("hint"), "first") {
			t.Errorf("%s: it is not told what stands: %v", step.says, a.Body)
		}
		if step.payload["final"] == nil && step.status == 409 && !strings.Contains(a.text("error"), "Batch 1 ") {
			t.Errorf("%s: it is not told which: %v", step.says, a.Body)
		}
		if _, found := a.details()[step.at]; step.at != "" && !found {
			t.Errorf("%s: the details are %v", step.says, a.details())
		}
		total, _ := a.Body["total"].(float64)
		must.Equal(t, step.total, total, step.says)
	}
	var result struct{ Suggestions []any }
	if err := json.Unmarshal(turn.job().Result, &result); err != nil || len(result.Suggestions) != 4 {
		t.Errorf("the result holds %d suggestions (%v)", len(result.Suggestions), err)
	}
}

func TestKindsWithoutSuggestionsTakeNoBatches(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	a := turn.want(400, "suggestions/batch", object{"batch": 1, "suggestions": []any{}})
	must.Contain(t, a.details()[""], "/api/claude/result", "told", a.Body)
}

// A submitted change ends Claude's part, but not its job: the node is notified by the
// event of the phase. A retry by curl must not revert later progress.
func TestASubmittedChangeMovesItsJobOn(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("fix")
	move := func(p job.Phase) {
		t.Helper()
		must.OK(t, turn.jobs.SetPhase(t.Context(), turn.id, lifecycle.Holder{Turn: 1, Node: "n"}, p))
	}
	var seen []job.Phase
	for _, step := range []struct {
		before job.Phase
		call   func()
	}{
		{call: func() {}},
		{job.AtWork, func() { turn.want(400, "result", object{"summary": 5}) }},
		{call: func() { turn.want(200, "result", object{"summary": "x"}) }},
		{call: func() { turn.want(200, "result", object{"summary": "x"}) }},
		{job.Verifying, func() { turn.want(200, "result", object{"summary": "x"}) }},
		{call: func() { turn.want(409, "result", object{"summary": "y"}) }},
	} {
		if step.before != "" {
			move(step.before)
		}
		step.call()
		j := turn.job()
		must.Equal(t, job.Running, j.State)
		seen = append(seen, j.Phase)
	}
	must.Equal(t, []job.Phase{job.Preparing, job.AtWork, job.Capturing, job.Capturing, job.Verifying, job.Verifying}, seen, "the phases")
}
