package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// explainer turns a validation error into details: what was found, and what is
// allowed there.
type explainer struct {
	schema   *Schema
	instance any
	details  []job.Detail
	told     map[job.Detail]bool
}

func (e *explainer) tell(path, format string, args ...any) {
	d := job.Detail{Path: path, Message: fmt.Sprintf(format, args...)}
	if len(e.details) < MaxDetails && !e.told[d] {
		e.told[d] = true
		e.details = append(e.details, d)
	}
}

// walk visits the faults below err; its leaves are keywords that did not hold.
func (e *explainer) walk(err *jsonschema.ValidationError) {
	keyword := lastToken(err.KeywordLocation)
	switch {
	case keyword == "anyOf" || keyword == "oneOf":
		e.alternatives(err)
	case len(err.Causes) == 0:
		e.leaf(err, keyword)
	default:
		causes := slices.Clone(err.Causes)
		slices.SortStableFunc(causes, func(a, b *jsonschema.ValidationError) int {
			return comparePointers(a.InstanceLocation, b.InstanceLocation)
		})
		for _, cause := range causes {
			e.walk(cause)
		}
	}
}

// alternatives explains the one alternative that was meant, if it is clear
// which: the only one that takes a value of this type.
func (e *explainer) alternatives(err *jsonschema.ValidationError) {
	var meant []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		if !isTypeFault(cause, err.InstanceLocation) {
			meant = append(meant, cause)
		}
	}
	if len(meant) == 1 {
		e.walk(meant[0])
		return
	}
	found := e.found(err.InstanceLocation)
	if len(err.Causes) == 0 { // oneOf: more than one holds
		e.tell(err.InstanceLocation, "found %s, which fits more than one of the allowed forms; it must fit exactly one", found)
		return
	}
	var allowed []string
	list, _ := e.keyword(err).([]any)
	for _, form := range list {
		allowed = append(allowed, e.describe(form))
	}
	e.tell(err.InstanceLocation, "found %s; allowed: %s", found, strings.Join(allowed, ", or "))
}

// isTypeFault reports whether all that is wrong is the type of the value at path.
func isTypeFault(err *jsonschema.ValidationError, path string) bool {
	if len(err.Causes) == 1 {
		return isTypeFault(err.Causes[0], path)
	}
	keyword := lastToken(err.KeywordLocation)
	return len(err.Causes) == 0 && err.InstanceLocation == path && (keyword == "type" || keyword == "const")
}

func (e *explainer) leaf(err *jsonschema.ValidationError, keyword string) {
	path, limit, found := err.InstanceLocation, e.keyword(err), e.found(err.InstanceLocation)
	switch keyword {
	case "required":
		e.missing(err)
	case "additionalProperties", "unevaluatedProperties":
		e.unknown(err)
	case "type":
		e.tell(path, "found %s; expected %s", found, e.describe(e.parent(err)))
	case "enum":
		values, _ := limit.([]any)
		e.tell(path, "found %s; allowed: %s", found, quoteAll(values))
	case "const":
		e.tell(path, "found %s; allowed: %s", found, quote(limit))
	case "format":
		e.tell(path, "found %s; expected a %v%s", found, limit, example(limit))
	case "pattern":
		e.tell(path, "found %s; expected text that matches %v", found, limit)
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf":
		words := map[string]string{
			"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than",
			"multipleOf": "a multiple of",
		}
		e.tell(path, "found %s; expected %s %v", found, words[keyword], limit)
	case "minLength", "maxLength":
		text, _ := e.at(path).(string)
		e.tell(path, "found %d characters; expected %s %v", utf8.RuneCountInString(text), atLeastOrMost(keyword), limit)
	case "minItems", "maxItems":
		list, _ := e.at(path).([]any)
		e.tell(path, "found %d items; expected %s %v", len(list), atLeastOrMost(keyword), limit)
	default:
		e.tell(path, "found %s; %s", found, err.Message)
	}
}

func (e *explainer) missing(err *jsonschema.ValidationError) {
	object, _ := e.at(err.InstanceLocation).(map[string]any)
	required, _ := e.keyword(err).([]any)
	properties, _ := e.parentObject(err)["properties"].(map[string]any)
	for _, name := range required {
		name, _ := name.(string)
		if _, ok := object[name]; !ok {
			e.tell(err.InstanceLocation+"/"+escape(name), "is required but missing; expected %s", e.describe(properties[name]))
		}
	}
}

func (e *explainer) unknown(err *jsonschema.ValidationError) {
	object, _ := e.at(err.InstanceLocation).(map[string]any)
	properties, _ := e.parentObject(err)["properties"].(map[string]any)
	var allowed []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p, _ := properties[name].(map[string]any); p["readOnly"] != true {
			allowed = append(allowed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := properties[name]; !ok {
			e.tell(err.InstanceLocation+"/"+escape(name), "is not a known field; allowed: %s", strings.Join(allowed, ", "))
		}
	}
}

// keyword returns the value of the keyword that did not hold.
func (e *explainer) keyword(err *jsonschema.ValidationError) any {
	_, pointer, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	return lookup(e.schema.root, pointer)
}

// parent returns the schema that the keyword stands in.
func (e *explainer) parent(err *jsonschema.ValidationError) any {
	_, pointer, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	return lookup(e.schema.root, pointer[:strings.LastIndexByte(pointer, '/')])
}

func (e *explainer) parentObject(err *jsonschema.ValidationError) map[string]any {
	object, _ := e.parent(err).(map[string]any)
	return object
}

func (e *explainer) at(path string) any { return lookup(e.instance, path) }

// found words the value at path, shortened.
func (e *explainer) found(path string) string {
	switch v := e.at(path).(type) {
	case map[string]any:
		return "an object"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case string:
		return "the string " + quote(v)
	case json.Number:
		return "the number " + v.String()
	case nil:
		return "null"
	default:
		return quote(v)
	}
}

// describe words what a schema expects.
func (e *explainer) describe(schema any) string {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return e.describe(lookup(e.schema.root, strings.TrimPrefix(ref, "#")))
	}
	if values, ok := s["enum"].([]any); ok {
		return "one of " + quoteAll(values)
	}
	if v, ok := s["const"]; ok {
		return quote(v)
	}
	text := "a value"
	switch t := s["type"].(type) {
	case string:
		text = article(t)
	case []any:
		names := make([]string, len(t))
		for i, v := range t {
			names[i] = article(fmt.Sprint(v))
		}
		text = strings.Join(names, " or ")
	}
	if format, ok := s["format"].(string); ok {
		text += " (format " + format + example(format) + ")"
	}
	return text
}

func atLeastOrMost(keyword string) string {
	if strings.HasPrefix(keyword, "min") {
		return "at least"
	}
	return "at most"
}

func article(typeName string) string {
	switch typeName {
	case "null":
		return "null"
	case "integer", "array", "object":
		return "an " + typeName
	}
	return "a " + typeName
}

func example(format any) string {
	switch format {
	case "date":
		return ", such as 2026-01-31"
	case "date-time":
		return ", such as 2026-01-31T18:00:00Z"
	case "uri":
		return ", such as https://example.com/page"
	}
	return ""
}

const maxQuoted = 80

func quote(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(text) <= maxQuoted {
		return string(text)
	}
	cut := maxQuoted
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}

func quoteAll(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = quote(v)
	}
	return strings.Join(words, ", ")
}

// lookup follows a JSON pointer; nil when it leads nowhere.
func lookup(v any, pointer string) any {
	if pointer == "" || pointer == "/" {
		return v
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[unescape(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

func lastToken(pointer string) string { return pointer[strings.LastIndexByte(pointer, '/')+1:] }

// comparePointers orders places as a reader meets them: numbers by value.
func comparePointers(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX == nil && errY == nil && x != y {
			return x - y
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return len(as) - len(bs)
}
