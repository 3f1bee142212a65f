package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"ringback/internal/kind/mealsuggestions"
	"ringback/internal/schema"
	"ringback/schemas"
	"ringback/test/must"
)

// week returns a result of seven full recipes, about 10 KB.
func week(t testing.TB) []byte {
	t.Helper()
	result := mealsuggestions.Result{Reasoning: "Seven dishes that take turns between vegetables, fish and pulses."}
	for day := range 7 {
		result.Suggestions = append(result.Suggestions, mealsuggestions.Suggestion{
			Date: fmt.Sprintf("2026-01-%02d", day+1), MealType: mealsuggestions.Dinner, Recipe: fullRecipe(day),
		})
	}
	text, err := json.Marshal(result)
	must.OK(t, err)
	return text
}

func fullRecipe(day int) mealsuggestions.Recipe {
	r := mealsuggestions.Recipe{
		Name: fmt.Sprintf("Dish %d", day), Description: "A dish for a working day that needs one pot and little attention.",
		Source: "Own recipe", Cuisine: "Italian", Difficulty: "easy", Servings: 4, PrepMinutes: 15, CookMinutes: 25,
		Tags:      []string{"quick", "vegan", "one-pot"},
		Nutrition: &mealsuggestions.Nutrition{Kcal: 520, ProteinGrams: 21, CarbsGrams: 60, FatGrams: 18, FiberGrams: 9},
	}
	for i := range 10 {
		r.Ingredients = append(r.Ingredients, mealsuggestions.Ingredient{Name: fmt.Sprintf("ingredient %d", i), Amount: 12.5, Unit: "g", Note: "chopped"})
	}
	for i := range 5 {
		r.Steps = append(r.Steps, fmt.Sprintf("%d. Cut and fry everything over medium heat for 5 minutes, stirring now and then.", i+1))
	}
	return r
}

func resultSchema(t testing.TB) *schema.Schema {
	t.Helper()
	source, err := schemas.FS.ReadFile("meal-suggestions.result.json")
	must.OK(t, err)
	return newSchema(t, string(source))
}

func BenchmarkValidateValid(b *testing.B) {
	text := week(b)
	s, v := resultSchema(b), decode(b, string(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if details := s.Validate(v); details != nil {
			b.Fatal(details)
		}
	}
}

// Each of the 70 ingredients has a wrong amount.
func BenchmarkValidateInvalid(b *testing.B) {
	v := decode(b, string(week(b)))
	suggestions, _ := v.(map[string]any)["suggestions"].([]any)
	for _, s := range suggestions {
		recipe, _ := s.(map[string]any)["recipe"].(map[string]any)
		ingredients, _ := recipe["ingredients"].([]any)
		for _, i := range ingredients {
			i.(map[string]any)["amount"] = "some"
		}
	}
	s := resultSchema(b)
	b.ReportAllocs()
	for b.Loop() {
		if len(s.Validate(v)) != schema.MaxDetails {
			b.Fatal("want faults")
		}
	}
}

func BenchmarkApplyDefaults(b *testing.B) {
	s, v := resultSchema(b), decode(b, string(week(b)))
	b.ReportAllocs()
	for b.Loop() {
		s.ApplyDefaults(v)
	}
}
