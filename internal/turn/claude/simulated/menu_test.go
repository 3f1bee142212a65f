package simulated_test

import (
	"fmt"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/claude/simulated"
	"ringback/test/must"
)

// menu runs a turn for an input and returns its valid result.
func menu(t *testing.T, k *kind.Kind, input string) object {
	t.Helper()
	p := claude.Prompt{Kind: k, Input: []byte(input), Structured: true}
	r := run(t, simulated.Options{Behaviour: job.SimulateSuccess}, first(t, p))
	output, _ := r.last()["structured_output"].(object)
	if details := k.Result.Validate(numbered(t, output)); details != nil {
		t.Fatalf("the menu is invalid: %v", details)
	}
	return output
}

// meals returns the dates and meals of a menu.
func meals(menu object) []string {
	var list []string
	for _, s := range menu["suggestions"].([]any) {
		list = append(list, fmt.Sprint(s.(object)["date"], " ", s.(object)["mealType"]))
	}
	return list
}

func TestMenuFollowsTheRequest(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	for _, c := range []struct {
		name, input string
		want        []string
	}{
		{
			"a dinner a day", `{"dateRangeStart": "2026-03-30", "dateRangeEnd": "2026-04-01"}`,
			[]string{"2026-03-30 dinner", "2026-03-31 dinner", "2026-04-01 dinner"},
		},
		{
			"several meals", `{"dateRangeStart": "2026-03-30", "dateRangeEnd": "2026-03-31", "mealTypes": ["breakfast", "snack"]}`,
			[]string{"2026-03-30 breakfast", "2026-03-30 snack", "2026-03-31 breakfast", "2026-03-31 snack"},
		},
		{
			"fewer than days, spread evenly", `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2026-03-06", "visibleCount": 3}`,
			[]string{"2026-03-01 dinner", "2026-03-03 dinner", "2026-03-05 dinner"},
		},
		{
			"more than days", `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2026-03-02", "visibleCount": 4}`,
			[]string{"2026-03-01 dinner", "2026-03-01 dinner", "2026-03-02 dinner", "2026-03-02 dinner"},
		},
		{"dates the wrong way round", `{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-01"}`, []string{"2026-03-02 dinner"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, meals(menu(t, k, c.input)))
		})
	}
	t.Run("a week at most", func(t *testing.T) {
		t.Parallel()
		must.Equal(t, 7, len(meals(menu(t, k, `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2028-03-01"}`))), "suggestions")
	})
}

func TestMenuIsVariedAndComplete(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	m := menu(t, k, `{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-13", "visibleCount": 12}`)
	seen := map[any]bool{}
	for _, s := range m["suggestions"].([]any) {
		r := s.(object)["recipe"].(object)
		seen[r["name"]] = true
		for _, field := range []string{"description", "source", "difficulty", "servings", "prepMinutes", "cookMinutes", "tags", "nutrition"} {
			if r[field] == nil {
				t.Errorf("%v has no %s", r["name"], field)
			}
		}
		if len(r["ingredients"].([]any)) < 4 || len(r["steps"].([]any)) < 2 {
			t.Errorf("one cannot cook %v from this", r["name"])
		}
	}
	must.Equal(t, 12, len(seen), "different dishes")
}
