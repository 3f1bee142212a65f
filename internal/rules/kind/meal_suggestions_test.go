package kind_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/schemas"
	"ringback/test/must"
)

// The schemas describe every field and limit its size, for Claude first of all.
func TestEveryFieldIsDescribedAndBounded(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"meal-suggestions.input.json", "meal-suggestions.result.json"} {
		text := must.Get(schemas.FS.ReadFile(file))(t)
		var root map[string]any
		must.OK(t, json.Unmarshal(text, &root))
		definitions, _ := root["$defs"].(map[string]any)
		for name, definition := range definitions {
			checkFields(t, file+" "+name, definition)
		}
		checkFields(t, file, root)
	}
}

func checkFields(t *testing.T, place string, schema any) {
	t.Helper()
	s, _ := schema.(map[string]any)
	if s["description"] == nil {
		t.Errorf("%s has no description", place)
	}
	properties, _ := s["properties"].(map[string]any)
	if properties != nil && s["additionalProperties"] != false {
		t.Errorf("%s is open", place)
	}
	for name, property := range properties {
		p, _ := property.(map[string]any)
		if p["title"] == nil || p["description"] == nil {
			t.Errorf("%s/%s has no title or no description", place, name)
		}
		checkBounds(t, place+"/"+name, p)
	}
}

func checkBounds(t *testing.T, place string, p map[string]any) {
	t.Helper()
	required := map[string]string{"array": "maxItems", "integer": "maximum", "number": "maximum", "string": "maxLength"}
	keyword, ok := required[fmt.Sprint(typeOf(p))]
	if ok && p[keyword] == nil && p["format"] == nil && p["enum"] == nil {
		t.Errorf("%s has no %s", place, keyword)
	}
	if items, ok := p["items"].(map[string]any); ok {
		checkBounds(t, place+"/items", items)
	}
}

func typeOf(p map[string]any) any {
	if list, ok := p["type"].([]any); ok {
		return list[0]
	}
	return p["type"]
}

func schemasOf(t *testing.T) (input, result *schema.Schema) {
	t.Helper()
	r, problems := kind.Load(kind.Builtin())
	must.OK(t, schema.Join(problems))
	k, ok := r.Get("meal-suggestions")
	if !ok {
		t.Fatal("the kind is not built in")
	}
	return k.Input, k.Result
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	must.OK(t, job.UnmarshalExact([]byte(text), &v))
	return v
}

const minimal = `{"suggestions":[{"date":"2026-01-31","mealType":"dinner","recipe":{"name":"Soup","source":"p. 12"}}],"reasoning":"Warm."}`

func TestResultGetsTheServersFields(t *testing.T) {
	t.Parallel()
	_, result := schemasOf(t)
	sent := strings.Replace(minimal, `"date"`, `"accepted":true,"notes":5,"date"`, 1)
	v := result.ApplyDefaults(decode(t, sent))
	must.Equal(t, nil, result.Validate(v))
	want := decode(t, strings.Replace(minimal, `"date"`, `"accepted":null,"servingsOverride":null,"notes":null,"date"`, 1))
	must.Equal(t, want, v)
	for _, name := range []string{"accepted", "servingsOverride"} {
		must.NotContain(t, string(result.ForClaude()), name, "Claude is shown")
	}
}

func TestResultTellsHowToRepairIt(t *testing.T) {
	t.Parallel()
	_, result := schemasOf(t)
	got := result.Validate(decode(t, `{"suggestions":[
		{"mealType":"brunch","recipe":{"name":"","ingredients":[{"name":"leek","amount":"two"}],"difficulty":"low"}},
		{"date":"31.1.2026","mealtype":"dinner","mealType":"dinner"}]}`))
	want := []job.Detail{
		{Path: "/reasoning", Message: `is required but missing; expected a string`},
		{Path: "/suggestions/0/date", Message: `is required but missing; expected a string (format date, such as 2026-01-31)`},
		{Path: "/suggestions/0/mealType", Message: `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
		{Path: "/suggestions/0/recipe/difficulty", Message: `found the string "low"; allowed: "easy", "medium", "hard"`},
		{Path: "/suggestions/0/recipe/ingredients/0/amount", Message: `found the string "two"; expected a number`},
		{Path: "/suggestions/0/recipe/name", Message: `found 0 characters; expected at least 1 and at most 200`},
		{Path: "/suggestions/1/date", Message: `found the string "31.1.2026"; expected the format date, such as 2026-01-31`},
		{Path: "/suggestions/1/mealtype", Message: `is not a known field; did you mean mealType? allowed: date, mealType, recipe`},
		{Path: "/suggestions/1/recipe", Message: `is required but missing; expected an object with name`},
	}
	must.Equal(t, want, got)
}

func TestInputOfMealSuggestions(t *testing.T) {
	t.Parallel()
	input, _ := schemasOf(t)
	for _, tc := range []struct {
		name, value string
		want        []job.Detail
	}{
		{"only the dates", `{"dateRangeStart":"2026-01-01","dateRangeEnd":"2026-01-07"}`, nil},
		{
			"everything", `{"dateRangeStart":"2026-01-01","dateRangeEnd":"2026-01-07","visibleCount":50,"mealTypes":["snack"],"servings":1,
			"maxTotalMinutes":30,"preferences":"Warm","dietaryRestrictions":["vegan"],"excludedIngredients":["celery"],
			"recipeHistory":[{"name":"Soup","lastCooked":"2025-12-24","timesCooked":3,"rating":5,"mealType":"lunch","notes":"Again"}]}`, nil,
		},
		{
			"wrong", `{"dateRangeStart":"2026-01-01","visibleCount":51,"mealTypes":["brunch"],"diet":"vegan"}`,
			[]job.Detail{
				{Path: "/dateRangeEnd", Message: `is required but missing; expected a string (format date, such as 2026-01-31)`},
				{Path: "/diet", Message: `is not a known field; allowed: dateRangeEnd, dateRangeStart, dietaryRestrictions, excludedIngredients, maxTotalMinutes, mealTypes, preferences, recipeHistory, servings, visibleCount`},
				{Path: "/mealTypes/0", Message: `found the string "brunch"; allowed: "breakfast", "lunch", "dinner", "snack"`},
				{Path: "/visibleCount", Message: `found the number 51; expected at least 1 and at most 50`},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, tc.want, input.Validate(decode(t, tc.value)))
		})
	}
}
