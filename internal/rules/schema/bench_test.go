package schema_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/schema"
	"ringback/schemas"
	"ringback/test/must"
)

// week returns a result of seven full recipes, about 10 KB.
func week() string {
	ingredients := strings.Repeat(`,{"name":"ingredient","amount":12.5,"unit":"g","note":"chopped"}`, 10)[1:]
	steps := strings.Repeat(`,"Cut and fry everything over medium heat for 5 minutes, stirring now and then."`, 5)[1:]
	recipe := `{"name":"Dish","description":"A dish for a working day that needs one pot and little attention.","source":"Own recipe",
		"cuisine":"Italian","difficulty":"easy","servings":4,"prepMinutes":15,"cookMinutes":25,"tags":["quick","vegan","one-pot"],
		"nutrition":{"kcal":520,"proteinGrams":21,"carbsGrams":60,"fatGrams":18,"fiberGrams":9},
		"ingredients":[` + ingredients + `],"steps":[` + steps + `]}`
	meals := strings.Repeat(`,{"date":"2026-01-01","mealType":"dinner","recipe":`+recipe+`}`, 7)[1:]
	return `{"reasoning":"Seven dishes that take turns between vegetables, fish and pulses.","suggestions":[` + meals + `]}`
}

func resultSchema(t testing.TB) *schema.Schema {
	t.Helper()
	source, err := schemas.FS.ReadFile("meal-suggestions.result.json")
	must.OK(t, err)
	return newSchema(t, string(source))
}

func BenchmarkValidateValid(b *testing.B) {
	text := week()
	s, v := resultSchema(b), decode(b, text)
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
	v := decode(b, week())
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
	s, v := resultSchema(b), decode(b, week())
	b.ReportAllocs()
	for b.Loop() {
		s.ApplyDefaults(v)
	}
}
