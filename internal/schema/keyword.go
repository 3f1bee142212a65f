package schema

import (
	"slices"
	"strings"
)

// The keywords of JSON Schema 2020-12 by what they hold: a schema, a list of
// schemas, schemas by name, and anything else.
var (
	schemaKeywords = []string{
		"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	schemaLists   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMaps    = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
	otherKeywords = []string{
		"$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary", "const", "contentEncoding",
		"contentMediaType", "default", "dependentRequired", "deprecated", "description", "enum", "examples", "exclusiveMaximum",
		"exclusiveMinimum", "format", "maxContains", "maximum", "maxItems", "maxLength", "maxProperties", "minContains", "minimum",
		"minItems", "minLength", "minProperties", "multipleOf", "pattern", "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
	}
	keywords = slices.Concat(schemaKeywords, schemaLists, schemaMaps, otherKeywords)
	// neighbours are no keywords, but words of other dialects that look like some.
	neighbours = []string{"example", "id"}
)

// misspelt returns the keyword that was most likely meant; empty when the word is
// one, or unlike any: others may add words of their own.
func misspelt(word string) string {
	if slices.Contains(keywords, word) || slices.Contains(neighbours, word) || strings.HasPrefix(word, "x-") {
		return ""
	}
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", "$", "").Replace(s))
	}
	meant, nearest := "", 3
	for _, keyword := range keywords {
		most := 1
		if len(keyword) > 6 {
			most = 2
		}
		if d := edits(plain(word), plain(keyword)); d <= most && d < nearest {
			meant, nearest = keyword, d
		}
	}
	return meant
}

// edits counts how many letters must be put in, left out, replaced or swapped with
// the next to turn one word into the other.
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		last := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], last[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
