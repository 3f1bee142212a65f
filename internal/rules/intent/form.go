package intent

import (
	"regexp"
	"slices"
	"strings"
)

func values(q Context, said sentence) Reading {
	open := q.open()
	if len(open) == 1 {
		if option, ok := exact(open[0].Enum, said.text); ok { // which may be the word "cancel"
			return given(map[string]any{open[0].Name: option})
		}
	}
	if q.isLabel(said) {
		if len(open) == 1 && open[0].anyText() {
			return given(map[string]any{open[0].Name: tidy(said.written)})
		}
	} else if withdraws(said, cancels) {
		return q.cancelOrOption(said)
	}
	if all, ok := valuesByName(q.Fields, said); ok {
		return given(all)
	}
	if len(open) == 1 {
		if v, ok := value(open[0], said); ok {
			return given(map[string]any{open[0].Name: v})
		}
	}
	return Reading{Outcome: Unclear}
}

// cancelOrOption interprets a text that means cancel if it is no option of any field.
func (q Context) cancelOrOption(said sentence) Reading {
	fields := slices.DeleteFunc(slices.Clone(q.Fields), func(f Field) bool { return !isOption(f.Enum, said) })
	if len(fields) == 0 {
		return Reading{Outcome: Cancel}
	}
	if v, ok := value(fields[0], said); ok && len(fields) == 1 {
		return given(map[string]any{fields[0].Name: v})
	}
	return Reading{Outcome: Unclear}
}

// isLabel reports whether a text is one of the labels, or several of them with commas in between.
func (q Context) isLabel(said sentence) bool {
	return isOption(q.Labels, said) || !slices.ContainsFunc(strings.Split(said.text, ","), func(part string) bool {
		return !isOption(q.Labels, parse(part))
	})
}

// isOption reports whether a text is one of the options, with or without polite words.
func isOption[T any](options []T, said sentence) bool {
	return slices.ContainsFunc(options, func(option T) bool {
		_, same := exact([]T{option}, said.text)
		_, polite := exact([]T{option}, said.without(""))
		return same || polite
	})
}

func given(values map[string]any) Reading {
	return Reading{Outcome: Values, Values: values}
}

// open returns the required fields that have no value yet, or a form's only field.
func (q Context) open() []Field {
	if len(q.Fields) == 1 {
		return q.Fields
	}
	return slices.DeleteFunc(slices.Clone(q.Fields), func(f Field) bool {
		_, known := q.Known[f.Name]
		return known || !f.Required
	})
}

// valuesByName reads values by their names, on lines or with commas in between: "duration: 10, format = mp4". It
// returns false if the text begins otherwise, or if a value is not clear: "note: send it to: bob" may give
// one value or two, and quotes may be a part of a value.
func valuesByName(fields []Field, said sentence) (map[string]any, bool) {
	if len(fields) == 0 || strings.Contains(said.text, `"`) {
		return nil, false
	}
	byName := map[string]Field{}
	for _, f := range fields {
		byName[spoken(f.Name)], byName[strings.ToLower(f.Name)] = f, f
	}
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, regexp.QuoteMeta(name))
	}
	name := `(` + strings.Join(names, "|") + `)\s*[:=：＝]\s*`
	begin, within := regexp.MustCompile(`(?i)(?:^|\s*[,;\n][\s,;]*)`+name), regexp.MustCompile(`(?i)[\s,;]`+name)
	text := said.written
	places := begin.FindAllStringSubmatchIndex(text, -1)
	if len(places) == 0 || places[0][0] != 0 {
		return nil, false
	}
	given := map[string]any{}
	for i, p := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		f := byName[strings.ToLower(text[p[2]:p[3]])]
		written := tidy(text[p[1]:end])
		v, ok := namedValue(f, written)
		if !ok || within.MatchString(written) {
			return nil, false
		}
		given[f.Name] = v
	}
	return given, true
}

// namedValue reads the text after a field's name. Any words on one line are the value of a text
// field, unless they give none.
func namedValue(f Field, text string) (any, bool) {
	said := parse(text)
	if !f.anyText() {
		return value(f, said)
	}
	return text, !strings.Contains(text, "\n") && !endsAsQuestion(text) && !evades(said)
}
