package contract

import (
	"maps"
	"slices"
)

// Generators of clients read most of JSON Schema, but refuse a whole document for what they do not
// know. Plain and its parts rewrite such schemas to others that mean the same.

// Plain returns a schema without true and false in the place of schemas, and without several types
// other than null.
func Plain(schema any) any {
	switch schema := schema.(type) {
	case bool:
		if schema {
			return object{}
		}
		return object{"not": object{}}
	case object:
		plain := maps.Clone(schema)
		for name, child := range schema {
			plain[name] = plainChild(name, child)
		}
		return typed(oneType(plain))
	}
	return schema
}

func plainChild(keyword string, value any) any {
	named, isObject := value.(object)
	list, isList := value.([]any)
	_, isBool := value.(bool)
	switch {
	case slices.Contains(data, keyword), isBool && !slices.Contains(schemaValued, keyword):
		return value
	case isObject && slices.Contains(byName, keyword):
		plain := object{}
		for name, child := range named {
			plain[name] = Plain(child)
		}
		return plain
	case isObject, isBool:
		return Plain(value)
	case isList && keyword != "type":
		plain := make([]any, len(list))
		for i, child := range list {
			plain[i] = Plain(child)
		}
		return plain
	}
	return value
}

// schemaValued are the keywords with a schema as their value that may not be true or false in a plain
// schema. Generators know these values of additionalProperties.
var schemaValued = []string{"items", "contains", "not", "if", "then", "else", "propertyNames"}

// ofType are the keywords that apply to values of one type.
var ofType = map[string][]string{
	"object": {
		"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"dependentRequired", "dependentSchemas",
	},
	"array":  {"items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"},
	"string": {"minLength", "maxLength", "pattern", "format"},
}

// oneType turns several types into alternatives, each with the keywords that apply to it.
func oneType(schema object) object {
	types := list(schema["type"])
	if len(types) < 2 || len(types) == 2 && slices.Contains(types, any("null")) {
		return schema
	}
	var alternatives []any
	delete(schema, "type")
	for _, name := range types {
		one := object{"type": name}
		of, _ := name.(string)
		for _, keyword := range ofType[of] {
			if value, set := schema[keyword]; set {
				one[keyword] = value
				delete(schema, keyword)
			}
		}
		alternatives = append(alternatives, one)
	}
	keyword := "oneOf" // which more generators know than anyOf
	if slices.Contains(types, any("number")) && slices.Contains(types, any("integer")) {
		keyword = "anyOf"
	}
	if _, taken := schema[keyword]; taken {
		schema["allOf"] = append(list(schema["allOf"]), object{keyword: alternatives})
	} else {
		schema[keyword] = alternatives
	}
	return schema
}

// typed gives a list of texts their type: some generators accept a default only with it.
func typed(schema object) object {
	isOther := func(value any) bool { _, isText := value.(string); return !isText }
	if values := list(schema["enum"]); schema["type"] == nil && len(values) > 0 && !slices.ContainsFunc(values, isOther) {
		schema["type"] = "string"
	}
	return schema
}
