package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// Example creates a small valid object; its texts are made of word. If it finds none, the
// error says at which part of the schema. An author can help it there with "examples".
func (s *Schema) Example(word string) (map[string]any, error) { return s.example(word, 0) }

// LeastExample is Example with only what the schema requires.
func (s *Schema) LeastExample(word string) (map[string]any, error) {
	return s.example(word, leastDepth)
}

func (s *Schema) example(word string, depth int) (map[string]any, error) {
	g := &generator{word: word, steps: 10_000}
	all := conjuncts(s.compiled, nil)
	v, ok := g.value(all, depth)
	object, isObject := v.(map[string]any)
	if ok && !isObject { // other types are allowed, too
		object, _ = g.object(all, depth)
		ok = isValid(object, all)
	}
	if !ok {
		return nil, fmt.Errorf("no example was found for the schema at %q; add \"examples\" there", "#"+g.failed)
	}
	var copied map[string]any // values of the schema itself are in the object
	err := job.UnmarshalExact(job.MustJSON(object), &copied)
	return copied, err
}

const (
	// leastDepth is the depth at which optional values are no longer generated, and
	// mostDepth that at which nothing is.
	leastDepth    = 4
	mostDepth     = 12
	mostGenerated = 100_000 // limits the items of an array and the characters of a text
)

// generator creates values for schemas: those that their author gives, or else plain values
// of the type. The validator decides which of them are valid.
type generator struct {
	word string
	// steps is the number of remaining steps, so that a schema that no value satisfies,
	// such as one that requires itself, terminates.
	steps  int
	failed string // The pointer of the first schema for which no value was found.
}

// value returns a value that is valid under all of the schemas; false if it finds none.
func (g *generator) value(parts []*jsonschema.Schema, depth int) (any, bool) {
	if g.steps--; g.steps < 0 || depth > mostDepth {
		return nil, false
	}
	before := g.failed
	for v := range g.candidates(parts, depth) {
		if isValid(v, parts) {
			g.failed = before
			return v, true
		}
	}
	if g.failed == "" && len(parts) > 0 {
		g.failed = pointerOf(parts[0])
	}
	return nil, false
}

func isValid(v any, parts []*jsonschema.Schema) bool {
	return unusableNumbers(v) == nil && !slices.ContainsFunc(parts, func(s *jsonschema.Schema) bool { return s.Validate(v) != nil })
}

// candidates yields values that may be valid, the best ones first.
func (g *generator) candidates(parts []*jsonschema.Schema, depth int) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, s := range parts {
			for _, v := range given(s) {
				if !yield(v) {
					return
				}
			}
		}
		if rest, forms := alternatives(parts); forms != nil {
			for _, form := range forms {
				if v, ok := g.value(conjuncts(form, slices.Clone(rest)), depth+1); ok && !yield(v) {
					return
				}
			}
			return
		}
		for _, name := range typesOf(parts) {
			for _, v := range g.plain(name, parts, depth) {
				if !yield(v) {
					return
				}
			}
		}
		yield(nil)
	}
}

func given(s *jsonschema.Schema) []any {
	values := slices.Clone(s.Examples[:min(1, len(s.Examples))])
	if s.Default != nil {
		values = append(values, s.Default)
	}
	return slices.Concat(values, s.Constant, s.Enum)
}

// alternatives returns the forms of the first anyOf or oneOf, and the schemas without it.
func alternatives(parts []*jsonschema.Schema) (rest, forms []*jsonschema.Schema) {
	for i, s := range parts {
		if forms = slices.Concat(s.AnyOf, s.OneOf); forms != nil {
			without := *s
			without.AnyOf, without.OneOf = nil, nil
			rest = slices.Clone(parts)
			rest[i] = &without
			return rest, forms
		}
	}
	return nil, nil
}

func (g *generator) plain(typeName string, parts []*jsonschema.Schema, depth int) []any {
	switch typeName {
	case "object":
		if object, ok := g.object(parts, depth); ok {
			return []any{object}
		}
	case "array":
		if list, ok := g.array(parts, depth); ok {
			return []any{list, []any{}}
		}
	case "integer", "number":
		return numbers(parts)
	case "boolean":
		return []any{true}
	case "string":
		return g.texts(parts)
	}
	return nil
}

// typesOf returns the types that the schemas name, or the one that their keywords suggest.
func typesOf(parts []*jsonschema.Schema) (types []string) {
	for _, s := range parts {
		types = append(types, s.Types...)
	}
	if len(types) > 0 {
		return types
	}
	for _, s := range parts {
		switch {
		case len(s.Properties)+len(s.Required) > 0:
			return []string{"object"}
		case s.Items2020 != nil:
			return []string{"array"}
		}
	}
	return []string{"string"}
}

// object generates the required fields, or all if none is required.
func (g *generator) object(parts []*jsonschema.Schema, depth int) (object map[string]any, ok bool) {
	object = map[string]any{}
	for _, s := range parts {
		for _, name := range s.Required {
			if object[name], ok = g.value(fieldIn(parts, name), depth+1); !ok {
				return nil, false
			}
		}
	}
	if len(object) > 0 || depth >= leastDepth {
		return object, true
	}
	for _, s := range parts {
		for name, field := range s.Properties {
			if _, owned := readOnlyOf(field); owned {
				continue
			}
			if v, ok := g.value(fieldIn(parts, name), depth+1); ok {
				object[name] = v
			}
		}
	}
	return object, true
}

func fieldIn(parts []*jsonschema.Schema, name string) (all []*jsonschema.Schema) {
	for _, s := range parts {
		all = conjuncts(cmp.Or(s.Properties[name], schemaOfOther(s, name)), all)
	}
	return all
}

// array generates as many items as are required, or one.
func (g *generator) array(parts []*jsonschema.Schema, depth int) (list []any, ok bool) {
	least := 0
	for _, s := range parts {
		least = min(max(least, s.MinItems), mostGenerated)
	}
	list = []any{}
	for len(list) < least || len(list) == 0 && depth < leastDepth {
		var item []*jsonschema.Schema
		for _, s := range parts {
			if len(list) < len(s.PrefixItems) {
				item = conjuncts(s.PrefixItems[len(list)], item)
			} else {
				item = conjuncts(s.Contains, conjuncts(s.Items2020, item))
			}
		}
		v, ok := g.value(item, depth+1)
		if !ok {
			return list, len(list) >= least
		}
		list = append(list, v)
	}
	return list, true
}

func numbers(parts []*jsonschema.Schema) []any {
	guesses := []float64{1}
	for _, s := range parts {
		for _, bound := range []*big.Rat{s.Minimum, s.ExclusiveMinimum, s.Maximum, s.ExclusiveMaximum, s.MultipleOf} {
			if bound != nil {
				f, _ := bound.Float64()
				guesses = append(guesses, f, math.Floor(f+1), math.Ceil(f-1), f/2)
			}
		}
	}
	var values []any
	for _, f := range guesses {
		values = append(values, json.Number(compact(f)))
	}
	return values
}

// texts returns examples of the format and the pattern, and the word at the required length.
func (g *generator) texts(parts []*jsonschema.Schema) (values []any) {
	length := len(g.word)
	for _, s := range parts {
		length = max(length, s.MinLength)
		if s.MaxLength >= 0 {
			length = min(length, s.MaxLength)
		}
		if text, ok := formatExamples[s.Format]; ok {
			values = append(values, text)
		}
		if s.Pattern != nil {
			if tree, err := syntax.Parse(s.Pattern.String(), syntax.Perl); err == nil {
				values = append(values, matching(tree))
			}
		}
	}
	length = min(length, mostGenerated)
	return append(values, strings.Repeat(g.word+" ", length/len(g.word)+1)[:length])
}

// matching returns a short text that most likely matches a pattern.
func matching(re *syntax.Regexp) string {
	switch re.Op { //nolint:exhaustive // the others match the empty text
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(max(re.Rune[0], '!'))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpAlternate, syntax.OpPlus:
		return matching(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(matching(re.Sub[0]), re.Min)
	case syntax.OpConcat:
		var text strings.Builder
		for _, part := range re.Sub {
			text.WriteString(matching(part))
		}
		return text.String()
	}
	return ""
}
