package simulated

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

const word = "simulated"

// makeResult makes a result for a schema: a menu if it asks for meals, else a small
// instance.
func makeResult(source, input json.RawMessage) (*schema.Schema, map[string]any, error) {
	s, err := schema.New("the result's schema", source)
	if err != nil {
		return nil, nil, err
	}
	if isMenu(s) {
		menu, err := makeMenu(input)
		return s, menu, err
	}
	result, err := s.Example(word)
	return s, result, err
}

// spoiled returns a result with a mistake that the schema forbids: a field is missing
// or, if none is required, one has the wrong type.
func spoiled(s *schema.Schema, result map[string]any) map[string]any {
	for _, spoil := range []func(wrong map[string]any, name string){
		func(wrong map[string]any, name string) { delete(wrong, name) },
		func(wrong map[string]any, name string) { wrong[name] = otherType(wrong[name]) },
	} {
		for _, name := range slices.Sorted(maps.Keys(result)) {
			wrong := maps.Clone(result)
			if spoil(wrong, name); s.Validate(wrong) != nil {
				return wrong
			}
		}
	}
	return result // anything is allowed
}

func otherType(v any) any {
	if _, isText := v.(string); isText {
		return json.Number("42")
	}
	return "not what was asked for"
}

//go:embed recipes.json
var recipesJSON []byte

func isMenu(s *schema.Schema) bool {
	suggestion, ok := s.Items("suggestions")
	return ok && suggestion.HasField("recipe") && suggestion.HasField("mealType")
}

// wishes are the fields of the input that a menu follows. A zero value means that it has none.
type wishes struct {
	DateRangeStart string   `json:"dateRangeStart"`
	DateRangeEnd   string   `json:"dateRangeEnd"`
	MealTypes      []string `json:"mealTypes"`
	VisibleCount   int      `json:"visibleCount"`
}

func (w wishes) dates() (from time.Time, days int) {
	from, err := time.Parse(time.DateOnly, w.DateRangeStart)
	if err != nil {
		from = time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC)
	}
	to, err := time.Parse(time.DateOnly, w.DateRangeEnd)
	if err != nil {
		to = from
	}
	return from, min(max(1, int(to.Sub(from).Hours()/24)+1), 366)
}

const mostSuggestions = 500

// makeMenu suggests dishes for the dates and meals of the input: visibleCount of them,
// spread evenly, or else one for each meal of at most a week.
func makeMenu(input json.RawMessage) (menu map[string]any, err error) {
	var w wishes
	_ = json.Unmarshal(input, &w) // a field of another type is as good as none
	if len(w.MealTypes) == 0 {
		w.MealTypes = []string{"dinner"}
	}
	var recipes []map[string]any
	if err := job.UnmarshalExact(recipesJSON, &recipes); err != nil {
		return nil, err
	}
	from, days := w.dates()
	slots := days * len(w.MealTypes)
	count := min(slots, 7*len(w.MealTypes))
	if w.VisibleCount > 0 {
		count = min(w.VisibleCount, mostSuggestions)
	}
	suggestions := make([]any, count)
	for i := range suggestions {
		at := i * slots / count
		meal := w.MealTypes[at%len(w.MealTypes)]
		fitting := slices.DeleteFunc(slices.Clone(recipes), func(r map[string]any) bool { return !suits(r, meal) })
		suggestions[i] = map[string]any{
			"date": from.AddDate(0, 0, at/len(w.MealTypes)).Format(time.DateOnly), "mealType": meal, "recipe": fitting[i%len(fitting)],
		}
	}
	const reasoning = "Each dish is quick enough for a working day. (Written by the simulated Claude.)"
	return map[string]any{"suggestions": suggestions, "reasoning": reasoning}, nil
}

// suits reports whether a dish is for a meal. One without a meal tag is for lunch and dinner.
func suits(recipe map[string]any, meal string) bool {
	tags, _ := recipe["tags"].([]any)
	if meal == "breakfast" || meal == "snack" {
		return slices.Contains(tags, any(meal))
	}
	return !slices.Contains(tags, any("breakfast")) && !slices.Contains(tags, any("snack"))
}
