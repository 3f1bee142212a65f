package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/text/excerpt"
)

const (
	maxQuoted = 80 // the maximum number of characters of a value in a message
	maxListed = 50 // the maximum number of allowed values in a message
)

func typed(v any) string {
	name := typeOfValue(v)
	if name == "boolean" || name == "null" {
		return quote(v)
	}
	return "the " + name + " " + quote(v)
}

func article(typeName string) string {
	switch typeName {
	case "null":
		return typeName
	case "integer", "array", "object":
		return "an " + typeName
	}
	return "a " + typeName
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return compact(shorten(s))
	}
	return shorten(compact(v))
}

func shorten(s string) string { return excerpt.Letters(s, maxQuoted) }

func quoteAll(values []any) string {
	words := make([]string, 0, maxListed+1)
	for _, v := range values[:min(len(values), maxListed)] {
		words = append(words, quote(v))
	}
	if more := len(values) - maxListed; more > 0 {
		words = append(words, "… and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(words, ", ")
}

// bounds describes the keywords that a schema has: "at least 1 and at most 50".
func bounds(schema *Node, keywords ...string) string {
	var words []string
	for _, keyword := range keywords {
		if limit := schema.Get(keyword); limit != nil {
			words = append(words, comparison(keyword)+" "+quote(limit.value))
		}
	}
	if len(words) == 0 { // contains alone
		return "at least 1"
	}
	return strings.Join(words, " and ")
}

func comparison(keyword string) string {
	switch {
	case keyword == "exclusiveMinimum":
		return "more than"
	case keyword == "exclusiveMaximum":
		return "less than"
	case strings.HasPrefix(keyword, "min"):
		return "at least"
	}
	return "at most"
}

func matchesPattern(schema *Node, name string) bool {
	return slices.ContainsFunc(schema.Get("patternProperties").Names(), func(pattern string) bool {
		matches, err := regexp.MatchString(pattern, name)
		return err == nil && matches
	})
}
