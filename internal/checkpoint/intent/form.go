package intent

import (
	"slices"
	"strings"

	"ringback/internal/lazy"
)

// fill reads the values of a form.
func fill(q Context, said sentence) Reading {
	open := slices.DeleteFunc(slices.Clone(q.Fields), func(f Field) bool {
		_, known := q.Known[f.Name]
		return known || !f.Required
	})
	given, ok := named(q.Fields, said)
	if ok && len(given) == 0 {
		given, ok = unnamed(q.Fields, open, said)
	}
	if !ok || len(given) == 0 {
		return Reading{Outcome: Unclear}
	}
	r := Reading{Outcome: Values, Values: given, Confidence: 1}
	for _, f := range open {
		if _, has := given[f.Name]; !has {
			r.Missing = append(r.Missing, f.Name)
		}
	}
	return r
}

// assignment matches the text between a field's name and its value.
var assignment = lazy.Regexp(`(?i)^\s*(?:[:=]|(?:is|to|should be|will be|are|as|of)\s)\s*`)

// place is the location of a field's value in a text.
type place struct {
	field             Field
	start, value, end int
}

// named reads "duration: 10, format = mp4" and "the duration is 10 and …". It returns false if a
// field is named with an invalid value.
func named(fields []Field, said sentence) (map[string]any, bool) {
	places := placesOf(fields, said.text)
	given := map[string]any{}
	for i, p := range places {
		end := len(said.text)
		if i+1 < len(places) {
			end = places[i+1].start
		}
		value, ok := valueAt(p.field, said.text[p.value:end])
		if !ok {
			return nil, false
		}
		given[p.field.Name] = value
	}
	if len(places) > 0 && !onlyFiller(said.text[:places[0].start]) {
		return nil, false
	}
	return given, true
}

// placesOf returns the fields that a text names with a value, in the order of the text.
func placesOf(fields []Field, text string) []place {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // lower-casing changed the length: the offsets would not fit
	}
	var places []place
	for _, f := range fields {
		for _, name := range []string{strings.ToLower(f.Name), spoken(f.Name)} {
			for at := 0; ; {
				i := strings.Index(lower[at:], name)
				if i < 0 {
					break
				}
				start, end := at+i, at+i+len(name)
				at = end
				joint := assignment().FindStringIndex(text[end:])
				if joint == nil || start > 0 && inWord(rune(text[start-1])) || overlaps(places, start) {
					continue
				}
				places = append(places, place{field: f, start: start, value: end + joint[1], end: end})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.start - b.start })
	return places
}

func overlaps(places []place, start int) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.start <= start && start < p.value })
}

// separators match the text that joins one named value to the next.
var separators = lazy.Regexp(`(?i)(?:[\s,;.]+(?:and\s+)?(?:(?:the|my|set|with|also|then)\s+)*|^\s*)$`)

func valueAt(f Field, text string) (any, bool) {
	text = strings.TrimSpace(separators().ReplaceAllString(text, ""))
	said := parse(text)
	if len(said.tokens) == 0 {
		return nil, false
	}
	if f.Type == "string" && len(f.Enum) == 0 && f.Format == "" {
		if said.asks && !hasLink(text) {
			return nil, false
		}
		return strings.Trim(strings.TrimSuffix(text, " please"), `"' `), true
	}
	return bare(f, said)
}

func onlyFiller(text string) bool {
	return !slices.ContainsFunc(parse(text).tokens, func(t token) bool { return !t.mark && !filler[t.word] && t.word != "and" })
}

// unnamed reads values without field names if the field is obvious: the only one that is open, or
// the only one that the value fits.
func unnamed(fields, open []Field, said sentence) (map[string]any, bool) {
	if len(open) == 0 && len(fields) == 1 {
		open = fields
	}
	if len(open) == 1 {
		value, ok := bare(open[0], said)
		return map[string]any{open[0].Name: value}, ok
	}
	given := map[string]any{}
	for _, piece := range pieces().Split(said.text, 20) {
		part := parse(piece)
		if len(part.tokens) == 0 || onlyFiller(piece) {
			continue
		}
		f, value := whose(open, part)
		if f == "" {
			return nil, false
		}
		if _, twice := given[f]; twice {
			return nil, false
		}
		given[f] = value
	}
	return given, true
}

var pieces = lazy.Regexp(`(?i)\s*(?:[,;\n]|\band\b)\s*`)

// whose returns the only field that a text can be the value of. Plain words fit no field in
// particular.
func whose(fields []Field, said sentence) (name string, value any) {
	for _, f := range fields {
		if f.Type == "string" && f.Format == "" && len(f.Enum) == 0 || f.Type == "boolean" {
			continue
		}
		v, ok := bare(f, said)
		if !ok {
			continue
		}
		if name != "" {
			return "", nil
		}
		name, value = f.Name, v
	}
	return name, value
}
