package console

import (
	"encoding/json"

	"ringback/internal/job"
)

type resultView struct {
	// Meals are those of a result that suggests meals; nil for other results.
	Meals     []meal
	Reasoning string
	// Tree shows any other result.
	Tree *tree
	JSON string
}

type meal struct {
	Date     string `json:"date"`
	MealType string `json:"mealType"`
	Notes    string `json:"notes"`
	Recipe   struct {
		Name        string      `json:"name"`
		Description string      `json:"description"`
		Servings    json.Number `json:"servings"`
		PrepMinutes json.Number `json:"prepMinutes"`
		CookMinutes json.Number `json:"cookMinutes"`
		Ingredients []struct {
			Name     string      `json:"name"`
			Amount   json.Number `json:"amount"`
			Unit     string      `json:"unit"`
			Note     string      `json:"note"`
			Optional bool        `json:"optional"`
		} `json:"ingredients"`
		Steps []string `json:"steps"`
	} `json:"recipe"`
}

func newResult(j job.Job) *resultView {
	shown := &resultView{JSON: pretty(j.Result)}
	shown.Tree = newTree("", j.Result, here.Job(j.ID, "/files/"))
	if shown.Tree.Raw {
		return shown
	}
	var suggested struct {
		Suggestions []meal `json:"suggestions"`
		Reasoning   string `json:"reasoning"`
	}
	if job.UnmarshalExact(j.Result, &suggested) == nil && len(suggested.Suggestions) > 0 &&
		suggested.Suggestions[0].Recipe.Name != "" {
		shown.Reasoning, shown.Meals = suggested.Reasoning, suggested.Suggestions
	}
	return shown
}
