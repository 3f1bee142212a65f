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
	"ringback/internal/text/literal"
)

// Edit handles the buttons that send the form back to change it: "add" with the pointer of a list,
// "remove" with the pointer of a row, or "choose" for another branch. It reports whether one was
// pressed. New controls have their defaults.
func (s *Schema) Edit(values url.Values) (url.Values, bool) {
	edited, shown := maps.Clone(values), values.Get("choose")
	switch {
	case values.Has("add"):
		name := "n" + values.Get("add")
		count, _ := strconv.Atoi(values.Get(name)) // 0 if there are none yet
		edited.Set(name, strconv.Itoa(count+1))
		shown = values.Get("add") + "/" + strconv.Itoa(count)
	case values.Has("remove"):
		removeRow(edited, values.Get("remove"))
	case values.Has("choose"):
	default:
		return values, false
	}
	for _, button := range []string{"add", "remove", "choose"} {
		edited.Del(button)
	}
	if f := s.Form(edited, nil).at(shown); f != nil && !values.Has("remove") {
		defaults := url.Values{}
		s.preset(defaults, f.node, shown, true, 0, nil)
		maps.DeleteFunc(defaults, func(name string, _ []string) bool { return edited.Has(name) })
		maps.Copy(edited, defaults)
	}
	return edited, true
}

// at returns the innermost field with a pointer; nil if there is none.
func (f Field) at(pointer string) *Field {
	for _, below := range f.Fields {
		if found := below.at(pointer); found != nil {
			return found
		}
	}
	if f.Pointer != pointer {
		return nil
	}
	return &f
}

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
		if _, ok := IsValue(name); !ok {
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

// IsValue reports whether a control of this name contains a value, and returns the value's pointer.
func IsValue(name string) (pointer string, ok bool) {
	if name == "" || name[0] != 'v' && name[0] != 'j' {
		return "", false
	}
	return name[1:], name[1:] == "" || name[1] == '/'
}

// Fill returns the form values that show exactly this JSON value.
func (s *Schema) Fill(text json.RawMessage) url.Values {
	values := url.Values{}
	var v any
	if len(text) > 0 && job.UnmarshalExact(text, &v) == nil {
		s.cost = 0
		s.put(values, s.read(s.Root()), "", v, true, 0)
		if s.cost > mostCost { // it is incomplete
			return url.Values{whole: {literal.JSON(string(text))}}
		}
	}
	return values
}

// Initial returns the form values of a new form: the known fields that the schema names, and the defaults
// of the others.
func (s *Schema) Initial(known map[string]any) url.Values {
	s.cost = 0
	values := url.Values{}
	s.preset(values, s.read(s.Root()), "", true, 0, known)
	return values
}

// preset fills in the known fields of a part of the form, and the defaults of the others. An optional object
// without a default has none: the defaults of its fields would make the form send it.
func (s *Schema) preset(values url.Values, part *node, pointer string, required bool, depth int, known map[string]any) {
	n := s.branch(part, pointer, 0)
	switch {
	case depth > deepest || s.cost > mostCost:
	case n.get("default") != nil && len(known) == 0:
		s.put(values, part, pointer, n.get("default").Value(), required, depth)
	case required:
		for _, of := range n.members() {
			field, below := s.read(of.part), pointer+job.Pointer(of.name)
			if v, isKnown := known[of.name]; isKnown {
				s.put(values, field, below, v, of.required, depth+1)
			} else {
				s.preset(values, field, below, of.required, depth+1, nil)
			}
		}
	}
}

// empties are the values for which controls are empty.
var empties = []string{"null", `""`, "[]", "{}"}

// put fills in the controls of a part of the form such that they send exactly this value if nobody touches
// them: with the first branch of a choice that does, with a note of the value that empty controls stand for,
// or else as JSON.
func (s *Schema) put(values url.Values, n *node, pointer string, v any, required bool, depth int) {
	for chosen := 0; depth <= deepest; chosen++ {
		shown, filled := s.branch(n, pointer, chosen), url.Values{}
		if shown == nil {
			break
		}
		if chosen > 0 {
			filled.Set("u"+pointer, strconv.Itoa(chosen))
		}
		s.fill(filled, shown, pointer, v, depth)
		sends := s.sends(filled, n, pointer, v, required, depth)
		if empty := string(job.MustJSON(v)); !sends && slices.Contains(empties, empty) {
			filled.Set("e"+pointer, empty)
			sends = s.sends(filled, n, pointer, v, required, depth)
		}
		if sends {
			maps.Copy(values, filled)
			return
		}
	}
	values.Set(whole+pointer, literal.Indented(v))
}

func (s *Schema) sends(values url.Values, n *node, pointer string, v any, required bool, depth int) bool {
	m, d := maker{schema: s, values: values}, decoder{}
	text, given := d.value(m.field(n, pointer, "", required, depth), required)
	var back any
	return given && job.UnmarshalExact(text, &back) == nil && reflect.DeepEqual(back, v)
}

// fill sets the controls of a part of the form, as far as they can show the value.
func (s *Schema) fill(values url.Values, n *node, pointer string, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, of := range n.members() {
			if value, given := v[of.name]; given {
				s.put(values, s.read(of.part), pointer+job.Pointer(of.name), value, of.required, depth+1)
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
	if n.get("items") == nil || len(list) > mostRows {
		return
	}
	values.Set("n"+pointer, strconv.Itoa(len(list)))
	items := s.read(n.get("items"))
	checks := s.checks(n, items, pointer) != nil
	for i, item := range list {
		if checks {
			values.Add("v"+pointer, job.ValueText(item))
		} else {
			s.put(values, items, pointer+"/"+strconv.Itoa(i), item, true, depth+1)
		}
	}
}
