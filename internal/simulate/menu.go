package simulate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

//go:embed recipes.json
var recipesJSON []byte

// isMenu reports whether a schema asks for suggestions of meals.
func isMenu(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	list, _ := properties["suggestions"].(map[string]any)
	item, _ := instance{root: schema}.resolved(list["items"]).(map[string]any)
	fields, _ := item["properties"].(map[string]any)
	return fields["recipe"] != nil && fields["mealType"] != nil
}

func (g instance) resolved(schema any) any {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return g.lookUp(ref)
	}
	return schema
}

// makeMenu suggests a recipe for each date and meal of the input, a week at most
// unless the input says how many.
func makeMenu(input map[string]any) any {
	var recipes []map[string]any
	if err := json.Unmarshal(recipesJSON, &recipes); err != nil {
		panic("simulate: " + err.Error()) // the file is compiled in
	}
	meals := mealsOf(input)
	count := number(input["visibleCount"], 7*len(meals))
	from, to := dateOf(input, "dateRangeStart"), dateOf(input, "dateRangeEnd")
	var suggestions []any
	for day := from; len(suggestions) < count && !day.After(to); day = day.AddDate(0, 0, 1) {
		for _, meal := range meals {
			if len(suggestions) < count {
				suggestions = append(suggestions, map[string]any{
					"date": day.Format(time.DateOnly), "mealType": meal, "recipe": recipes[len(suggestions)%len(recipes)],
				})
			}
		}
	}
	if suggestions == nil {
		suggestions = []any{map[string]any{"date": from.Format(time.DateOnly), "mealType": meals[0], "recipe": recipes[0]}}
	}
	return map[string]any{
		"suggestions": suggestions,
		"reasoning": fmt.Sprintf("These %d dishes take turns between vegetables, fish, pulses and grains, so that no day repeats the one before; "+
			"all of them are quick enough for a working day. (Written by the simulated Claude.)", len(suggestions)),
	}
}

func mealsOf(input map[string]any) []string {
	list, _ := input["mealTypes"].([]any)
	var meals []string
	for _, v := range list {
		if meal, ok := v.(string); ok {
			meals = append(meals, meal)
		}
	}
	if meals == nil {
		return []string{"dinner"}
	}
	return meals
}

func dateOf(input map[string]any, field string) time.Time {
	text, _ := input[field].(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC)
	}
	return day
}
