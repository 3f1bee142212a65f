package form

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// Edit handles the buttons that send the form back to change it: "add" with the pointer of a list,
// "remove" with the pointer of a row, or "choose" for another branch. It reports whether one was
// pressed.
func Edit(values url.Values) (url.Values, bool) {
	edited := maps.Clone(values)
	switch {
	case values.Has("add"):
		name := "n" + values.Get("add")
		count, _ := strconv.Atoi(values.Get(name)) // 0 if there are none yet
		edited.Set(name, strconv.Itoa(count+1))
	case values.Has("remove"):
		removeRow(edited, values.Get("remove"))
	case values.Has("choose"):
	default:
		return values, false
	}
	for _, button := range []string{"add", "remove", "choose"} {
		edited.Del(button)
	}
	return edited, true
}

// removeRow removes a row and moves the following rows up by one.
func removeRow(values url.Values, pointer string) {
	at := strings.LastIndexByte(pointer, '/')
	if at < 0 {
		return
	}
	list := pointer[:at]
	row, err := strconv.Atoi(pointer[at+1:])
	count, _ := strconv.Atoi(values.Get("n" + list))
	if err != nil || row < 0 || row >= count {
		return
	}
	moved := url.Values{}
	for _, name := range slices.Collect(maps.Keys(values)) {
		prefix, rest, in := strings.Cut(name, list+"/")
		number, below, _ := strings.Cut(rest, "/")
		i, err := strconv.Atoi(number)
		if len(prefix) != 1 || !in || err != nil || i < row {
			continue
		}
		if i > row {
			target := prefix + list + "/" + strconv.Itoa(i-1)
			if below != "" {
				target += "/" + below
			}
			moved[target] = values[name]
		}
		values.Del(name)
	}
	maps.Copy(values, moved)
	values.Set("n"+list, strconv.Itoa(count-1))
}

// Typed reports whether a form was sent with values that it did not have when it was shown. What was
// cleared does not count: browsers clear what they cannot show.
func Typed(sent, shown url.Values) bool {
	for name, texts := range sent {
		if !strings.HasPrefix(name, "v/") && name != "v" && name != whole {
			continue
		}
		for _, text := range texts {
			same := func(one string) bool {
				return strings.Join(strings.Fields(one), " ") == strings.Join(strings.Fields(text), " ")
			}
			if strings.TrimSpace(text) != "" && !slices.ContainsFunc(shown[name], same) {
				return true
			}
		}
	}
	return false
}

// FillWhole is Fill without losses: if the form cannot show all of the value, such as a field that the
// schema does not name, or another branch than the first, it is shown as JSON as a whole.
func (s *Schema) FillWhole(text json.RawMessage) url.Values {
	values := s.Fill(text)
	shown, _ := s.Decode(values)
	var given, back any
	if job.UnmarshalExact(text, &given) == nil && job.UnmarshalExact(shown, &back) == nil &&
		!reflect.DeepEqual(filled(given), filled(back)) {
		return url.Values{whole: {string(text)}}
	}
	return values
}

// filled returns a value without all that is empty, which a form shows as an empty control; nil if
// nothing is left.
func filled(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" {
			return nil
		}
	case map[string]any:
		maps.DeleteFunc(v, func(name string, field any) bool {
			v[name] = filled(field)
			return v[name] == nil
		})
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = filled(v[i])
		}
		if v = slices.DeleteFunc(v, func(item any) bool { return item == nil }); len(v) == 0 {
			return nil
		}
		return v
	}
	return v
}

// Fill returns the form values for a JSON value.
func (s *Schema) Fill(text json.RawMessage) url.Values {
	values := url.Values{}
	var v any
	if len(text) > 0 && job.UnmarshalExact(text, &v) == nil {
		s.cost = 0
		s.fill(values, s.root, "", v, 0)
		if s.cost > mostCost { // it is incomplete
			return url.Values{whole: {string(text)}}
		}
	}
	return values
}

func (s *Schema) fill(values url.Values, n *node, pointer string, v any, depth int) {
	if n != nil {
		n = s.resolve(n, pointer)
	}
	if n == nil || depth > deepest {
		values.Set("v"+pointer, job.ValueText(v))
		return
	}
	if branches := s.branches(n); len(branches) > 0 && choices(branches) == nil {
		n = branches[0]
	}
	switch v := v.(type) {
	case map[string]any:
		if len(n.Properties.names) == 0 {
			values.Set("v"+pointer, job.ValueText(v))
		}
		for name, field := range v {
			if property := n.Properties.byName[name]; property != nil {
				s.fill(values, property, pointer+job.Pointer(name), field, depth+1)
			}
		}
	case []any:
		s.fillList(values, n, pointer, v, depth)
	case nil:
	default:
		values.Set("v"+pointer, job.ValueText(v))
	}
}

func (s *Schema) fillList(values url.Values, n *node, pointer string, list []any, depth int) {
	if n.Items == nil {
		values.Set("v"+pointer, job.ValueText(list))
		return
	}
	values.Set("n"+pointer, strconv.Itoa(len(list)))
	checks := len(s.resolve(n.Items, pointer).Enum) > 0 && n.Unique
	for i, item := range list {
		if checks {
			values.Add("v"+pointer, job.ValueText(item))
		} else {
			s.fill(values, n.Items, pointer+"/"+strconv.Itoa(i), item, depth+1)
		}
	}
}
