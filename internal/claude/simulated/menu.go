package simulated

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/schema"
)

// isMenu reports whether a schema asks for suggestions of meals.
func isMenu(s *schema.Schema) bool {
	suggestion, ok := s.Items("suggestions")
	return ok && suggestion.HasField("recipe") && suggestion.HasField("mealType")
}

// wishes are the fields of the input that a menu follows. Zero values mean that it says nothing.
type wishes struct {
	DateRangeStart      string   `json:"dateRangeStart"`
	DateRangeEnd        string   `json:"dateRangeEnd"`
	MealTypes           []string `json:"mealTypes"`
	VisibleCount        int      `json:"visibleCount"`
	Servings            float64  `json:"servings"`
	MaxTotalMinutes     float64  `json:"maxTotalMinutes"`
	DietaryRestrictions []string `json:"dietaryRestrictions"`
	ExcludedIngredients []string `json:"excludedIngredients"`
}

func wishesIn(input json.RawMessage) (w wishes) {
	_ = json.Unmarshal(input, &w) // a field of another type is as good as none
	if len(w.MealTypes) == 0 {
		w.MealTypes = []string{"dinner"}
	}
	w.Servings = cmp.Or(w.Servings, 4)
	return w
}

// allow reports whether a dish meets the wishes that can be checked.
func (w wishes) allow(r recipe) bool {
	isVegan := slices.Contains(r.Tags, "vegan")
	isVegetarian := isVegan || slices.Contains(r.Tags, "vegetarian")
	for _, restriction := range w.DietaryRestrictions {
		word := strings.ToLower(restriction)
		if strings.Contains(word, "vegan") && !isVegan || strings.Contains(word, "vegetarian") && !isVegetarian {
			return false
		}
	}
	isQuick := w.MaxTotalMinutes == 0 || r.PrepMinutes+r.CookMinutes <= w.MaxTotalMinutes
	return isQuick && !slices.ContainsFunc(w.ExcludedIngredients, r.contains)
}

// dates returns the first date and the number of days, a year at most.
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

// mostSuggestions is the most that the result's schema accepts.
const mostSuggestions = 500

// makeMenu suggests dishes for the dates and meals of the input: visibleCount of them,
// spread evenly, or else one for each meal of at most a week.
func makeMenu(input json.RawMessage) (menu map[string]any, err error) {
	w := wishesIn(input)
	from, days := w.dates()
	meals := w.MealTypes
	slots := days * len(meals)
	count := min(slots, 7*len(meals))
	if w.VisibleCount > 0 {
		count = min(w.VisibleCount, mostSuggestions)
	}
	book := openCookbook(w, from.YearDay())
	suggestions := make([]any, count)
	for i := range suggestions {
		at := i * slots / count
		meal := meals[at%len(meals)]
		suggestions[i] = map[string]any{
			"date": from.AddDate(0, 0, at/len(meals)).Format(time.DateOnly), "mealType": meal, "recipe": book.next(meal),
		}
	}
	text, err := json.Marshal(map[string]any{"suggestions": suggestions, "reasoning": reasoning(count, book)})
	if err != nil {
		return nil, err
	}
	return menu, job.UnmarshalExact(text, &menu)
}

func reasoning(count int, book *cookbook) string {
	text := fmt.Sprintf(
		"These %d dishes take turns between vegetables, fish, pulses and grains, so that no day repeats the one before.",
		count,
	)
	if count == 1 {
		text = "This dish is quick enough for a working day and needs nothing that is hard to find."
	}
	if book.short {
		text += " Not every wish could be met: the cookbook at hand is a small one."
	}
	return text + " (Written by the simulated Claude.)"
}
