package shown

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/literal"
)

// raw is a JSON text, in whatever notation its author likes.
type raw = json.RawMessage

// field is a member of an object; objects of this test keep their order.
type field struct {
	name  string
	value any // string, number, bool, nil, []field or []any
}

// number is a number with its notations.
type number []string

var numbers = []number{
	{"1000", "1e3", "1000.0", "10E+2"},
	{"0", "-0", "0.0"},
	{"0.0000001", "1e-7"},
	{"9007199254740993", "9007199254740993.0"},
	{"123456789012345678901234567890"},
}

// text returns the JSON of a value; each number in one of its notations, each object in one of its
// orders.
func text(r *rand.Rand, v any) string {
	switch v := v.(type) {
	case number:
		return v[r.IntN(len(v))]
	case []field:
		members := make([]string, len(v))
		for i, at := range r.Perm(len(v)) {
			members[i] = quoted(v[at].name) + ":" + text(r, v[at].value)
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = text(r, item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		return quoted(v)
	}
	return string(job.MustJSON(v))
}

func quoted(s string) string { return string(job.MustJSON(s)) }

// identity identifies JSON by its meaning. It is written without the server's code.
func identity(t raw) string {
	var v any
	if job.UnmarshalExact(t, &v) != nil {
		return "invalid: " + string(t)
	}
	return identityOf(v)
}

func identityOf(v any) string {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return "n" + r.RatString()
	case map[string]any:
		var members []string
		for name, value := range v {
			members = append(members, strconv.Quote(name)+"="+identityOf(value))
		}
		sort.Strings(members)
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, identityOf(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return fmt.Sprintf("%T %q", v, fmt.Sprint(v))
}

// notIn returns a part of a value that a text does not show; empty if it shows all of it.
func notIn(shown string, t raw) string {
	var v any
	if err := job.UnmarshalExact(t, &v); err != nil {
		return err.Error()
	}
	return missing(strings.Join(strings.Fields(shown), " "), "", v)
}

func missing(shown, name string, v any) string {
	object, isObject := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case isObject && len(object) > 0:
		for member, value := range object {
			if absent := missing(shown, member, value); absent != "" {
				return absent
			}
		}
		return ""
	case isList && len(list) > 0:
		for _, item := range list {
			if absent := missing(shown, name, item); absent != "" {
				return absent
			}
		}
		return ""
	}
	part := strings.Join(strings.Fields(literal.Value(v)), " ")
	if strings.Contains(shown, part) {
		return ""
	}
	if s, isText := v.(string); isText { // line by line, as the console shows a text
		lines := literal.Lines(s)
		if !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(shown, strings.Join(strings.Fields(line), " ")) }) {
			return ""
		}
	}
	return name + ": " + part
}

var marks = []string{"", "\"", "\n", "\u202e", "а", "`", "{{input.to}}", "</script>", " yes ", "\\", "🙂", "<b>&amp;"}

// value returns a random value. Each text in it occurs once.
func value(r *rand.Rand, depth int) any {
	switch n := r.IntN(12); {
	case n < 5:
		s := "v" + strconv.FormatUint(r.Uint64(), 36) + marks[r.IntN(len(marks))]
		if r.IntN(12) == 0 {
			s += strings.Repeat("x", r.IntN(4000)) + "e" + strconv.FormatUint(r.Uint64(), 36)
		}
		return s
	case n < 8:
		return numbers[r.IntN(len(numbers))]
	case n == 8:
		return []any{true, false, nil}[r.IntN(3)]
	case depth > 2:
		return nil
	case n == 9:
		items := make([]any, r.IntN(3))
		for i := range items {
			items[i] = value(r, depth+1)
		}
		return items
	}
	return fields(r, names, depth+1)
}

var names = []string{"name", "to", "amount", "a.b", "a/b", "more", "text", "Name", "Straße", "input", "~", "iban"}

func fields(r *rand.Rand, from []string, depth int) []field {
	var all []field
	for _, name := range from {
		if r.IntN(3) == 0 {
			all = append(all, field{name, value(r, depth)})
		}
	}
	return all
}

// changed returns a value that differs from a list of fields in one place.
func changed(r *rand.Rand, of []field) []field {
	of = slices.Clone(of)
	switch at := r.IntN(len(of) + 1); {
	case at == len(of):
		return append(of, field{"extra" + strconv.Itoa(r.IntN(100)), value(r, 0)})
	case r.IntN(3) == 0 && len(of) > 1 && of[at].name != "name":
		return slices.Delete(of, at, at+1)
	default:
		for range 10 {
			next := value(r, 0)
			if next != nil && text(rand.New(rand.NewPCG(1, 1)), next) != text(rand.New(rand.NewPCG(1, 1)), of[at].value) {
				of[at].value = next
				return of
			}
		}
		return append(of, field{"extra", "x"})
	}
}
