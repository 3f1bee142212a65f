package simulated

import (
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

//go:embed recipes.json
var recipesJSON []byte

// recipe is a dish in the form of the result's schema.
type recipe map[string]any

// cookbook selects dishes that match a request.
type cookbook struct {
	recipes  []recipe
	input    map[string]any
	servings float64
	// turn counts the dishes returned for each meal, beginning at start.
	turn  map[string]int
	start int
	// short is set when a returned dish does not meet every wish.
	short bool
}

func openCookbook(input map[string]any, start int) *cookbook {
	var recipes []recipe
	if err := json.Unmarshal(recipesJSON, &recipes); err != nil {
		panic("simulated: " + err.Error()) // the file is compiled in
	}
	return &cookbook{recipes: recipes, input: input, servings: numberIn(input, "servings", 4), turn: map[string]int{}, start: start}
}

// next returns a dish for a meal; dishes repeat after all have been returned.
func (c *cookbook) next(meal string) recipe {
	forMeal := slices.DeleteFunc(slices.Clone(c.recipes), func(r recipe) bool { return !r.suits(meal) })
	fitting := slices.DeleteFunc(slices.Clone(forMeal), func(r recipe) bool { return !c.allows(r) })
	if len(fitting) == 0 {
		c.short = true
		fitting = forMeal
	}
	i := c.start + c.turn[meal]
	c.turn[meal]++
	return fitting[i%len(fitting)].scaled(c.servings)
}

// suits reports whether a dish is for a meal. One without a meal tag is for lunch and
// dinner.
func (r recipe) suits(meal string) bool {
	if meal == "breakfast" || meal == "snack" {
		return r.tagged(meal)
	}
	return !r.tagged("breakfast") && !r.tagged("snack")
}

func (r recipe) tagged(tag string) bool { return slices.Contains(textsOf(r["tags"]), tag) }

// allows reports whether a dish meets the wishes that can be checked.
func (c *cookbook) allows(r recipe) bool {
	if r.minutes() > numberIn(c.input, "maxTotalMinutes", math.Inf(1)) {
		return false
	}
	for _, restriction := range textsOf(c.input["dietaryRestrictions"]) {
		switch word := strings.ToLower(restriction); {
		case strings.Contains(word, "vegan") && !r.tagged("vegan"):
			return false
		case strings.Contains(word, "vegetarian") && !r.tagged("vegan") && !r.tagged("vegetarian"):
			return false
		}
	}
	return !slices.ContainsFunc(textsOf(c.input["excludedIngredients"]), r.contains)
}

func (r recipe) minutes() float64 {
	prep, _ := r["prepMinutes"].(float64)
	cook, _ := r["cookMinutes"].(float64)
	return prep + cook
}

func (r recipe) contains(ingredient string) bool {
	word := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(ingredient)), "s")
	if word == "" {
		return false
	}
	return slices.ContainsFunc(r.ingredients(), func(i map[string]any) bool {
		name, _ := i["name"].(string)
		return strings.Contains(strings.ToLower(name), word)
	})
}

func (r recipe) ingredients() []map[string]any {
	list, _ := r["ingredients"].([]any)
	var all []map[string]any
	for _, item := range list {
		if i, ok := item.(map[string]any); ok {
			all = append(all, i)
		}
	}
	return all
}

// scaled returns the recipe for another number of people.
func (r recipe) scaled(servings float64) recipe {
	usual, _ := r["servings"].(float64)
	if usual == 0 || usual == servings {
		return r
	}
	other := maps.Clone(r)
	var list []any
	for _, i := range r.ingredients() {
		i = maps.Clone(i)
		if amount, ok := i["amount"].(float64); ok {
			i["amount"] = rounded(amount * servings / usual)
		}
		list = append(list, i)
	}
	other["servings"], other["ingredients"] = servings, list
	return other
}

// rounded rounds to amounts that can be measured: whole grams, and quarters of small
// amounts.
func rounded(amount float64) float64 {
	if amount >= 20 {
		return math.Round(amount)
	}
	return max(0.25, math.Round(amount*4)/4)
}
