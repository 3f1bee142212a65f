package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

// explainer converts a validation error to details: what was found, and what is allowed
// instead.
type explainer struct {
	schema   *Schema
	instance any
	details  []job.Detail
}

// firstDetails returns the first errors in the order of the document.
func firstDetails(details []job.Detail) []job.Detail {
	slices.SortFunc(details, func(a, b job.Detail) int {
		return cmp.Or(comparePointers(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	details = slices.Compact(details)
	return details[:min(len(details), MaxDetails)]
}

// walk visits the errors below err; its leaves are keywords that failed.
func (e *explainer) walk(err *jsonschema.ValidationError) {
	switch {
	case len(err.Causes) == 0:
		e.leaf(e.faultOf(err))
	case err.Message == "anyOf failed", err.Message == "oneOf failed":
		e.alternatives(err)
	case strings.HasPrefix(err.Message, "valid must be"): // contains: the items are not errors by themselves
		e.leaf(e.faultOf(err))
	default:
		for _, cause := range err.Causes {
			e.walk(cause)
		}
	}
}

type fault struct {
	path    string // of the value
	value   any
	found   string // a description of the value
	keyword string
	limit   *Node  // the keyword's value in the schema; nil if it is in another schema
	schema  *Node  // the schema with the keyword
	message string // the library's message
}

func (e *explainer) faultOf(err *jsonschema.ValidationError) fault {
	f := fault{path: plainPointer(err.InstanceLocation), message: err.Message}
	f.value = valueAt(e.instance, f.path)
	f.found = typed(f.value)
	if isName(err.KeywordLocation) {
		f.value = lastToken(f.path)
		f.found = "the name " + quote(f.value)
	}
	base, _, _ := strings.Cut(e.schema.compiled.Location, "#")
	url, pointer, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	pointer = plainPointer(pointer)
	f.keyword = lastToken(pointer)
	if strings.HasPrefix(err.Message, "property ") { // dependentRequired/<name>/<number>
		pointer = parentPointer(parentPointer(pointer))
		f.keyword = "dependentRequired"
	}
	if url == base {
		f.limit, f.schema = e.schema.root.At(pointer), e.schema.root.At(parentPointer(pointer))
	}
	if f.keyword == "minContains" && f.limit == nil { // contains alone means at least one
		f.limit = f.schema.Get("contains")
	}
	return f
}

// isName reports whether the error is in a field's name instead of its value.
func isName(keywordLocation string) bool {
	before := ""
	for _, token := range pointerTokens(keywordLocation) {
		if token == "propertyNames" && before != "properties" {
			return true
		}
		before = token
	}
	return false
}

func (e *explainer) add(path, format string, args ...any) {
	e.details = append(e.details, job.Detail{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (e *explainer) leaf(f fault) {
	switch {
	case f.message == "not allowed": // the schema is false
		e.forbidden(f)
	case f.limit == nil:
		e.add(f.path, "found %s; %s", f.found, f.message)
	case f.keyword == "required":
		e.missing(f, f.limit.Texts(), "")
	case f.keyword == "dependentRequired":
		object, _ := f.value.(map[string]any)
		for _, rule := range f.limit.fields {
			if _, ok := object[rule.name]; ok {
				e.missing(f, rule.node.Texts(), " together with "+rule.name)
			}
		}
	case f.keyword == "additionalProperties":
		e.unknown(f)
	case f.keyword == "uniqueItems":
		e.add(f.path, "%s; every item must be different", f.message)
	case f.keyword == "not":
		e.add(f.path, "found %s, which is not allowed here: %s", f.found, e.describe(f.limit))
	case f.keyword == "oneOf": // if none matches, see alternatives
		e.add(f.path, "found %s, which fits more than one of the allowed forms; it must fit exactly one", f.found)
	default:
		e.add(f.path, "found %s", e.contrast(f))
	}
}

func (e *explainer) contrast(f fault) string {
	switch f.keyword {
	case "type":
		return f.found + "; expected " + e.describe(f.schema)
	case "enum":
		return f.found + "; allowed: " + quoteAll(f.limit.List())
	case "const":
		return f.found + "; allowed: " + quote(f.limit.value)
	case "format":
		return f.found + "; expected the format " + f.limit.Text() + suchAs(f.limit.Text())
	case "pattern":
		return f.found + "; expected text that matches " + f.limit.Text() + exampleIn(f.schema)
	case "minContains", "maxContains":
		return countIn(f.value) + "; expected " + bounds(f.schema, "minContains", "maxContains") + " that are " +
			e.describe(f.schema.Get("contains"))
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
		return f.found + "; expected " + bounds(f.schema, "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
	case "multipleOf":
		return f.found + "; expected a multiple of " + quote(f.limit.value)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		what := f.keyword[len("min"):]
		return countIn(f.value) + "; expected " + bounds(f.schema, "min"+what, "max"+what)
	}
	return f.found + "; " + f.message
}

func exampleIn(schema *Node) string {
	if examples := schema.Get("examples").List(); len(examples) > 0 {
		return ", such as " + quote(examples[0])
	}
	return ""
}

// missing reports each of the names that an object lacks, at its own path.
func (e *explainer) missing(f fault, names []string, together string) {
	object, _ := f.value.(map[string]any)
	for _, name := range names {
		if _, ok := object[name]; !ok {
			expected := e.describe(e.schema.fieldAt(f.schema, name))
			e.add(f.path+job.Pointer(name), "is required%s but missing; expected %s", together, expected)
		}
	}
}

// unknown reports each unknown field of a closed object, at its own path.
func (e *explainer) unknown(f fault) {
	object, _ := f.value.(map[string]any)
	allowed := e.fieldsOf(f.schema)
	listed := 0
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if f.schema.Get("properties").Get(name) == nil && !matchesPattern(f.schema, name) && listed < MaxDetails {
			e.add(f.path+job.Pointer(name), "is not a known field; %s", spelling.Known(name, allowed))
			listed++
		}
	}
}

func (e *explainer) forbidden(f fault) {
	if f.keyword == "unevaluatedProperties" {
		e.add(f.path, "is not a known field; %s", spelling.Known(lastToken(f.path), e.fieldsOf(f.schema)))
		return
	}
	e.add(f.path, "found %s; nothing is allowed here: leave it out", f.found)
}

// fieldsOf returns the names of the fields that Claude may send, sorted.
func (e *explainer) fieldsOf(schema *Node) []string {
	var names []string
	for _, f := range e.schema.fields(schema) {
		if !e.schema.isReadOnly(f.node) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

func countIn(v any) string {
	switch v := v.(type) {
	case string:
		return spelling.Count(utf8.RuneCountInString(v), "character")
	case []any:
		return spelling.Count(len(v), "item")
	case map[string]any:
		return spelling.Count(len(v), "field")
	}
	return typed(v)
}
