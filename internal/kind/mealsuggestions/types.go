// Package mealsuggestions defines the built-in kind meal-suggestions as Go types. Its
// JSON Schemas are generated from them: after changing a type, run go generate. A test
// checks that types and schemas match.
package mealsuggestions

//go:generate go run ./generate ../../../schemas

// MealType is a meal of the day.
type MealType string

// The meals of the day.
const (
	Breakfast MealType = "breakfast"
	Lunch     MealType = "lunch"
	Dinner    MealType = "dinner"
	Snack     MealType = "snack"
)

// Input is a job's input.
type Input struct {
	DateRangeStart      string     `json:"dateRangeStart" jsonschema:"format=date,title=First date" jsonschema_description:"First date to suggest meals for."`
	DateRangeEnd        string     `json:"dateRangeEnd" jsonschema:"format=date,title=Last date" jsonschema_description:"Last date to suggest meals for, included."`
	VisibleCount        int        `json:"visibleCount,omitempty" jsonschema:"minimum=1,maximum=50,title=Number of suggestions" jsonschema_description:"How many suggestions to make: as many as the user sees at once. Left out: one for each date and meal type."`
	MealTypes           []MealType `json:"mealTypes,omitempty" jsonschema:"maxItems=4,uniqueItems=true,title=Meal types" jsonschema_description:"Which meals of the day are wanted. Left out or empty: dinner."`
	Servings            int        `json:"servings,omitempty" jsonschema:"minimum=1,maximum=50,title=Servings" jsonschema_description:"How many people eat."`
	MaxTotalMinutes     int        `json:"maxTotalMinutes,omitempty" jsonschema:"minimum=5,maximum=1440,title=Time limit" jsonschema_description:"Most minutes that preparation and cooking may take together."`
	Preferences         string     `json:"preferences,omitempty" jsonschema:"maxLength=2000,title=Preferences" jsonschema_description:"Wishes in the user's own words."`
	DietaryRestrictions []string   `json:"dietaryRestrictions,omitempty" jsonschema:"maxItems=20,minLength=1,maxLength=100,title=Dietary restrictions" jsonschema_description:"What every dish must keep to, such as vegetarian or gluten-free."`
	ExcludedIngredients []string   `json:"excludedIngredients,omitempty" jsonschema:"maxItems=50,minLength=1,maxLength=100,title=Excluded ingredients" jsonschema_description:"What no dish may contain."`
	RecipeHistory       []PastMeal `json:"recipeHistory,omitempty" jsonschema:"maxItems=500,title=Recipe history" jsonschema_description:"Dishes that were cooked before."`
}

// PastMeal is a dish that was cooked before.
type PastMeal struct {
	Name        string   `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name" jsonschema_description:"The dish."`
	LastCooked  string   `json:"lastCooked,omitempty" jsonschema:"format=date,title=Last cooked" jsonschema_description:"Date it was cooked last."`
	TimesCooked int      `json:"timesCooked,omitempty" jsonschema:"minimum=0,maximum=100000,title=Times cooked" jsonschema_description:"How often it was cooked so far."`
	Rating      int      `json:"rating,omitempty" jsonschema:"minimum=1,maximum=5,title=Rating" jsonschema_description:"From 1 (never again) to 5 (favourite)."`
	MealType    MealType `json:"mealType,omitempty" jsonschema:"title=Meal type" jsonschema_description:"The meal it was cooked for."`
	Notes       string   `json:"notes,omitempty" jsonschema:"maxLength=500,title=Notes" jsonschema_description:"What the user remarked about it."`
}

// Result is the result that Claude submits.
type Result struct {
	Suggestions []Suggestion `json:"suggestions" jsonschema:"minItems=1,maxItems=500,title=Suggestions" jsonschema_description:"The suggested meals, in the order of their dates."`
	Reasoning   string       `json:"reasoning" jsonschema:"minLength=1,maxLength=4000,title=Reasoning" jsonschema_description:"Why these dishes were chosen, for the user to read."`
}

// Suggestion is one meal on one date. The last three fields belong to the server: the
// user sets them later.
type Suggestion struct {
	Date             string   `json:"date" jsonschema:"format=date,title=Date" jsonschema_description:"The day of the meal."`
	MealType         MealType `json:"mealType" jsonschema:"title=Meal type" jsonschema_description:"The meal of that day."`
	Recipe           Recipe   `json:"recipe" jsonschema:"title=Recipe" jsonschema_description:"The suggested dish."`
	Accepted         *bool    `json:"accepted,omitempty" jsonschema:"title=Accepted" jsonschema_description:"Whether the user took it; null until they decide."`
	ServingsOverride *int     `json:"servingsOverride,omitempty" jsonschema:"minimum=1,maximum=100,title=Servings override" jsonschema_description:"Servings that the user wants instead of the recipe's."`
	Notes            *string  `json:"notes,omitempty" jsonschema:"maxLength=2000,title=Notes" jsonschema_description:"The user's notes."`
}

// Recipe is a dish with instructions. Only the name is required: the dish may be common
// knowledge, or described at its source.
type Recipe struct {
	Name        string       `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name" jsonschema_description:"What the dish is called."`
	Description string       `json:"description,omitempty" jsonschema:"maxLength=1000,title=Description" jsonschema_description:"One or two sentences that make one want to eat it."`
	Source      string       `json:"source,omitempty" jsonschema:"maxLength=500,title=Source" jsonschema_description:"The cookbook or site it comes from, or \"Own recipe\"."`
	Cuisine     string       `json:"cuisine,omitempty" jsonschema:"maxLength=100,title=Cuisine" jsonschema_description:"Where the dish is at home, such as Italian."`
	Difficulty  string       `json:"difficulty,omitempty" jsonschema:"enum=easy,enum=medium,enum=hard,title=Difficulty" jsonschema_description:"How much skill it takes."`
	Servings    int          `json:"servings,omitempty" jsonschema:"minimum=1,maximum=100,title=Servings" jsonschema_description:"How many people it feeds."`
	PrepMinutes int          `json:"prepMinutes,omitempty" jsonschema:"minimum=0,maximum=2880,title=Preparation" jsonschema_description:"Minutes of preparation."`
	CookMinutes int          `json:"cookMinutes,omitempty" jsonschema:"minimum=0,maximum=2880,title=Cooking" jsonschema_description:"Minutes on the stove or in the oven."`
	Ingredients []Ingredient `json:"ingredients,omitempty" jsonschema:"maxItems=100,title=Ingredients" jsonschema_description:"Everything that goes in, for all servings."`
	Steps       []string     `json:"steps,omitempty" jsonschema:"maxItems=100,minLength=1,maxLength=2000,title=Steps" jsonschema_description:"What to do, in order."`
	Tags        []string     `json:"tags,omitempty" jsonschema:"maxItems=30,minLength=1,maxLength=50,title=Tags" jsonschema_description:"Words to find it by, such as quick or vegan."`
	Nutrition   *Nutrition   `json:"nutrition,omitempty" jsonschema:"title=Nutrition" jsonschema_description:"Estimate for one serving."`
}

// Ingredient is one line of a recipe's shopping list.
type Ingredient struct {
	Name     string  `json:"name" jsonschema:"minLength=1,maxLength=200,title=Name" jsonschema_description:"The ingredient, without amount."`
	Amount   float64 `json:"amount,omitempty" jsonschema:"minimum=0,maximum=100000,title=Amount" jsonschema_description:"A number; left out for what is added to taste."`
	Unit     string  `json:"unit,omitempty" jsonschema:"maxLength=30,title=Unit" jsonschema_description:"Such as g, ml or tbsp; left out for pieces."`
	Note     string  `json:"note,omitempty" jsonschema:"maxLength=200,title=Note" jsonschema_description:"Such as finely chopped."`
	Optional bool    `json:"optional,omitempty" jsonschema:"title=Optional" jsonschema_description:"Whether the dish works without it."`
}

// Nutrition estimates the nutrients of one serving.
type Nutrition struct {
	Kcal         float64 `json:"kcal,omitempty" jsonschema:"minimum=0,maximum=10000,title=Energy" jsonschema_description:"Kilocalories."`
	ProteinGrams float64 `json:"proteinGrams,omitempty" jsonschema:"minimum=0,maximum=1000,title=Protein" jsonschema_description:"Grams of protein."`
	CarbsGrams   float64 `json:"carbsGrams,omitempty" jsonschema:"minimum=0,maximum=1000,title=Carbohydrates" jsonschema_description:"Grams of carbohydrates."`
	FatGrams     float64 `json:"fatGrams,omitempty" jsonschema:"minimum=0,maximum=1000,title=Fat" jsonschema_description:"Grams of fat."`
	FiberGrams   float64 `json:"fiberGrams,omitempty" jsonschema:"minimum=0,maximum=1000,title=Fibre" jsonschema_description:"Grams of fibre."`
	SodiumMg     float64 `json:"sodiumMg,omitempty" jsonschema:"minimum=0,maximum=100000,title=Sodium" jsonschema_description:"Milligrams of sodium."`
}
