// Package mealsuggestions is the built-in kind meal-suggestions in Go types
// (seed 002). Its JSON Schemas are generated from them.
package mealsuggestions

//go:generate go run ./generate ../../../schemas

// MealType is a meal of the day.
type MealType string

// Input is what is asked for.
type Input struct {
	DateRangeStart      string     `json:"dateRangeStart" jsonschema:"format=date,title=First date,description=First date to suggest meals for"`
	DateRangeEnd        string     `json:"dateRangeEnd" jsonschema:"format=date,title=Last date,description=Last date to suggest meals for (included)"`
	VisibleCount        int        `json:"visibleCount,omitempty" jsonschema:"minimum=1,maximum=50,title=How many,description=How many suggestions the user sees at once"`
	MealTypes           []MealType `json:"mealTypes,omitempty" jsonschema:"maxItems=4,uniqueItems=true,title=Meal types,description=Which meals of the day are wanted (default: dinner)"`
	Servings            int        `json:"servings,omitempty" jsonschema:"minimum=1,maximum=50,title=Servings,description=How many people eat"`
	Preferences         string     `json:"preferences,omitempty" jsonschema:"maxLength=2000,title=Preferences,description=Wishes in the user's own words"`
	DietaryRestrictions []string   `json:"dietaryRestrictions,omitempty" jsonschema:"maxItems=20,title=Dietary restrictions,description=What every dish must keep to (such as vegetarian)"`
	ExcludedIngredients []string   `json:"excludedIngredients,omitempty" jsonschema:"maxItems=50,title=Excluded ingredients,description=What no dish may contain"`
	MaxTotalMinutes     int        `json:"maxTotalMinutes,omitempty" jsonschema:"minimum=5,maximum=1440,title=Time limit,description=Most minutes of preparation and cooking together"`
	RecipeHistory       []PastMeal `json:"recipeHistory,omitempty" jsonschema:"maxItems=500,title=Recipe history,description=What was cooked before"`
}

// PastMeal is a dish that was cooked before.
type PastMeal struct {
	Name       string `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name"`
	LastCooked string `json:"lastCooked,omitempty" jsonschema:"format=date,title=Last cooked"`
	Rating     int    `json:"rating,omitempty" jsonschema:"minimum=1,maximum=5,title=Rating,description=From 1 (never again) to 5 (favourite)"`
}

// Result is what Claude submits.
type Result struct {
	Suggestions []Suggestion `json:"suggestions" jsonschema:"minItems=1,maxItems=100,title=Suggestions"`
	Reasoning   string       `json:"reasoning" jsonschema:"minLength=1,maxLength=4000,title=Reasoning,description=Why these dishes were chosen"`
}

// Suggestion is one meal on one date. The last three fields belong to the
// server: the user decides about them later.
type Suggestion struct {
	Date             string   `json:"date" jsonschema:"format=date,title=Date"`
	MealType         MealType `json:"mealType" jsonschema:"title=Meal type"`
	Recipe           Recipe   `json:"recipe" jsonschema:"title=Recipe"`
	Accepted         *bool    `json:"accepted,omitempty" jsonschema:"title=Accepted,description=Whether the user took it; null until they decide"`
	ServingsOverride *int     `json:"servingsOverride,omitempty" jsonschema:"title=Servings override,description=Servings that the user wants instead of the recipe's"`
	Notes            *string  `json:"notes,omitempty" jsonschema:"title=Notes,description=The user's notes"`
}

// Recipe is a dish one can cook from. Only the name is required: a recipe may
// be no more than a dish everyone knows, or stand at its source.
type Recipe struct {
	Name        string       `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name"`
	Description string       `json:"description,omitempty" jsonschema:"maxLength=1000,title=Description"`
	Source      string       `json:"source,omitempty" jsonschema:"maxLength=500,title=Source,description=Cookbook or site it comes from"`
	Cuisine     string       `json:"cuisine,omitempty" jsonschema:"maxLength=100,title=Cuisine"`
	Difficulty  string       `json:"difficulty,omitempty" jsonschema:"enum=easy,enum=medium,enum=hard,title=Difficulty"`
	Servings    int          `json:"servings,omitempty" jsonschema:"minimum=1,maximum=100,title=Servings,description=How many people it feeds"`
	PrepMinutes int          `json:"prepMinutes,omitempty" jsonschema:"minimum=0,maximum=2880,title=Preparation,description=Minutes of preparation"`
	CookMinutes int          `json:"cookMinutes,omitempty" jsonschema:"minimum=0,maximum=2880,title=Cooking,description=Minutes of cooking"`
	Ingredients []Ingredient `json:"ingredients,omitempty" jsonschema:"maxItems=100,title=Ingredients"`
	Steps       []string     `json:"steps,omitempty" jsonschema:"maxItems=100,title=Steps,description=What to do in order"`
	Tags        []string     `json:"tags,omitempty" jsonschema:"maxItems=30,title=Tags"`
	Nutrition   *Nutrition   `json:"nutrition,omitempty" jsonschema:"title=Nutrition,description=Estimate for one serving"`
}

// Ingredient is one line of a recipe's shopping list.
type Ingredient struct {
	Name     string  `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name"`
	Amount   float64 `json:"amount,omitempty" jsonschema:"minimum=0,title=Amount,description=Left out for what is added to taste"`
	Unit     string  `json:"unit,omitempty" jsonschema:"maxLength=30,title=Unit,description=Such as g or ml or tbsp; left out for pieces"`
	Note     string  `json:"note,omitempty" jsonschema:"maxLength=200,title=Note,description=Such as finely chopped"`
	Optional bool    `json:"optional,omitempty" jsonschema:"title=Optional"`
}

// Nutrition estimates what one serving holds.
type Nutrition struct {
	Kcal         float64 `json:"kcal,omitempty" jsonschema:"minimum=0,title=Energy,description=Kilocalories"`
	ProteinGrams float64 `json:"proteinGrams,omitempty" jsonschema:"minimum=0,title=Protein,description=Grams"`
	CarbsGrams   float64 `json:"carbsGrams,omitempty" jsonschema:"minimum=0,title=Carbohydrates,description=Grams"`
	FatGrams     float64 `json:"fatGrams,omitempty" jsonschema:"minimum=0,title=Fat,description=Grams"`
	FiberGrams   float64 `json:"fiberGrams,omitempty" jsonschema:"minimum=0,title=Fibre,description=Grams"`
}
