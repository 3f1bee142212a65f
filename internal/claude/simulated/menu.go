package simulated

import (
	"fmt"
	"time"

	"ringback/internal/schema"
)

// isMenu reports whether a schema asks for suggestions of meals.
func isMenu(s *schema.Schema) bool {
	suggestion, ok := s.Items("suggestions")
	return ok && suggestion.HasField("recipe") && suggestion.HasField("mealType")
}

// mostSuggestions is the most that the result's schema accepts.
const mostSuggestions = 500

// slot is a meal of a day.
type slot struct {
	day  int // counted from the first
	meal string
}

// makeMenu suggests dishes for the dates and meals of the input: visibleCount of them,
// spread evenly, or else one for each meal of at most a week.
func makeMenu(input map[string]any) map[string]any {
	from, days := datesOf(input)
	meals := mealsOf(input)
	slots := days * len(meals)
	count := min(slots, 7*len(meals))
	if wanted := int(numberIn(input, "visibleCount", 0)); wanted > 0 {
		count = min(wanted, mostSuggestions)
	}
	book := openCookbook(input, from.YearDay())
	suggestions := make([]any, count)
	for i := range suggestions {
		at := i * slots / count
		s := slot{day: at / len(meals), meal: meals[at%len(meals)]}
		suggestions[i] = map[string]any{
			"date": from.AddDate(0, 0, s.day).Format(time.DateOnly), "mealType": s.meal, "recipe": book.next(s.meal),
		}
	}
	return map[string]any{"suggestions": suggestions, "reasoning": reasoning(count, book)}
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

func mealsOf(input map[string]any) []string {
	if meals := textsOf(input["mealTypes"]); len(meals) > 0 {
		return meals
	}
	return []string{"dinner"}
}

// datesOf returns the first date and the number of days.
func datesOf(input map[string]any) (from time.Time, days int) {
	from = dateOf(input, "dateRangeStart", time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC))
	to := dateOf(input, "dateRangeEnd", from)
	const year = 366
	return from, min(max(1, int(to.Sub(from).Hours()/24)+1), year)
}

func dateOf(input map[string]any, field string, otherwise time.Time) time.Time {
	text, _ := input[field].(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return otherwise
	}
	return day
}
