package schema

import (
	"slices"
	"strings"

	"ringback/internal/text/spelling"
)

// The keywords of JSON Schema 2020-12 by their value: a schema, a list of schemas, schemas
// by name, and anything else.
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
		"minItems", "minLength", "minProperties", "multipleOf", "pattern", "readOnly", "required", "title", "type",
		"uniqueItems", "writeOnly",
	}
	keywords = slices.Concat(schemaKeywords, schemaLists, schemaMaps, otherKeywords)
	// neighbours are words of other dialects that look like misspelt keywords.
	neighbours = []string{"example", "id"}
)

// misspelt returns the keyword that was most likely meant; "" if the word is a keyword, or
// unlike any: authors may add their own words.
func misspelt(word string) string {
	if slices.Contains(keywords, word) || slices.Contains(neighbours, word) || strings.HasPrefix(word, "x-") {
		return ""
	}
	return spelling.Nearest(word, keywords)
}
