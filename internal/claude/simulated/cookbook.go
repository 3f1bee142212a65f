package simulated

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

//go:embed recipes.json
var recipesJSON []byte

// recipe is a dish in the form of the result's schema.
type recipe struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Source      string          `json:"source"`
	Cuisine     string          `json:"cuisine"`
	Difficulty  string          `json:"difficulty"`
	Servings    float64         `json:"servings"`
	PrepMinutes float64         `json:"prepMinutes"`
	CookMinutes float64         `json:"cookMinutes"`
	Ingredients []ingredient    `json:"ingredients"`
	Steps       []string        `json:"steps"`
	Tags        []string        `json:"tags"`
	Nutrition   json.RawMessage `json:"nutrition"`
}

type ingredient struct {
	Name   string  `json:"name"`
	Amount float64 `json:"amount,omitzero"`
	Unit   string  `json:"unit,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// cookbook selects dishes that match a request.
type cookbook struct {
	recipes []recipe
	wishes  wishes
	// turn counts the dishes returned for each meal, beginning at start.
	turn  map[string]int
	start int
	// short is set when a returned dish does not meet every wish.
	short bool
}

func openCookbook(w wishes, start int) *cookbook {
	c := &cookbook{wishes: w, turn: map[string]int{}, start: start}
	if err := json.Unmarshal(recipesJSON, &c.recipes); err != nil {
		panic("simulated: " + err.Error()) // the file is compiled in
	}
	return c
}

// next returns a dish for a meal; dishes repeat after all have been returned.
func (c *cookbook) next(meal string) recipe {
	forMeal := slices.DeleteFunc(slices.Clone(c.recipes), func(r recipe) bool { return !r.suits(meal) })
	fitting := slices.DeleteFunc(slices.Clone(forMeal), func(r recipe) bool { return !c.wishes.allow(r) })
	if len(fitting) == 0 {
		c.short = true
		fitting = forMeal
	}
	i := c.start + c.turn[meal]
	c.turn[meal]++
	return fitting[i%len(fitting)].scaled(c.wishes.Servings)
}

// suits reports whether a dish is for a meal. One without a meal tag is for lunch and
// dinner.
func (r recipe) suits(meal string) bool {
	if meal == "breakfast" || meal == "snack" {
		return slices.Contains(r.Tags, meal)
	}
	return !slices.Contains(r.Tags, "breakfast") && !slices.Contains(r.Tags, "snack")
}

func (r recipe) contains(excluded string) bool {
	word := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(excluded)), "s")
	return word != "" && slices.ContainsFunc(r.Ingredients, func(i ingredient) bool {
		return strings.Contains(strings.ToLower(i.Name), word)
	})
}

// scaled returns the recipe for another number of people, in amounts that can be measured: whole
// grams, and quarters of small amounts.
func (r recipe) scaled(servings float64) recipe {
	factor := servings / r.Servings
	r.Servings, r.Ingredients = servings, slices.Clone(r.Ingredients)
	for i := range r.Ingredients {
		switch amount := r.Ingredients[i].Amount * factor; {
		case factor == 1 || amount == 0:
		case amount >= 20:
			r.Ingredients[i].Amount = math.Round(amount)
		default:
			r.Ingredients[i].Amount = max(0.25, math.Round(amount*4)/4)
		}
	}
	return r
}
