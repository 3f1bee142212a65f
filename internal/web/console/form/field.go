package form

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
)

// Control is the kind of control for a value.
type Control string

// The controls.
const (
	Input    Control = "input"    // one line of type Type
	Area     Control = "area"     // several lines of text
	Select   Control = "select"   // one of Options
	Checks   Control = "checks"   // any of Options
	Object   Control = "object"   // Fields, by name
	List     Control = "list"     // Fields, any number of them
	Union    Control = "union"    // one of Options, which determines Fields
	JSON     Control = "json"     // any value, as JSON
	Constant Control = "constant" // nothing to fill in
)

// Field is a value to fill in.
type Field struct {
	Control
	// Pointer is the JSON pointer of the value; Name is the name of its control.
	Pointer, Name string
	Label, Help   string
	Required      bool
	// Type is the type of an Input: text, number, date, datetime-local, time, email or url.
	Type string
	// Value is the filled-in value. Exactly contains its lines with visible characters, if some cannot be
	// seen or look like others.
	Value   string
	Exactly []string
	// Empty is the JSON of the value that an empty control stands for; empty if that is none.
	Empty string
	// Hint is an example, shown while nothing is filled in.
	Hint           string
	Min, Max, Step string
	MaxLength      int
	Options        []Option
	Fields         []Field
	// property is the name of the value in its object, node its schema, and constant the value of a
	// Constant. number is true if the value is a number.
	property string
	node     *node
	constant any
	number   bool
	// Count is the number of rows of a List, and CountName the name of the control with that
	// number. Full is true if no row can be added, Fixed if none can be removed.
	Count       int
	CountName   string
	Full, Fixed bool
	Faults      []string
}

// Option is one of several values to choose from.
type Option struct {
	Value, Label string
	Chosen       bool
	value        any
}

var asSent = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")

// AsSent returns what browsers send for a text: they have one sort of line break.
func AsSent(text string) string { return asSent.Replace(text) }

type maker struct {
	schema *Schema
	values url.Values
	faults []job.Detail
	// shown are the faults that a field shows.
	shown map[int]bool
}

// Form returns the form with what was filled in and the faults of that. values are the values of
// its controls; faults have the paths of values, "" for the whole.
func (s *Schema) Form(values url.Values, faults []job.Detail) Field {
	s.cost = 0
	m := maker{schema: s, values: values, faults: faults, shown: map[int]bool{}}
	field := m.field(s.read(s.Root()), "", "", true, 0)
	if s.cost > mostCost || values.Has(whole) {
		field = Field{Control: JSON, Name: whole, Label: "JSON", Required: true, Value: values.Get(whole)}
		m.shown = map[int]bool{}
	}
	for i, fault := range faults { // faults that no control shows
		if !m.shown[i] {
			field.Faults = append(field.Faults, strings.TrimPrefix(fault.Path+": "+fault.Message, ": "))
		}
	}
	return field
}

func (m *maker) field(part *node, pointer, label string, required bool, depth int) Field {
	n := m.schema.resolve(part, pointer)
	f := Field{Pointer: pointer, Name: "v" + pointer, Help: n.text("description"), Required: required, node: part}
	if label != "" {
		f.Label = cmp.Or(n.text("title"), label)
	}
	if given := n.get("default"); given != nil {
		f.Help = strings.TrimSpace(f.Help + " Default: " + strings.Trim(literal.Value(given.Value()), `"`))
	}
	if empty := m.values.Get("e" + pointer); slices.Contains(empties, empty) {
		f.Empty = empty
	}
	for i, fault := range m.faults {
		if fault.Path == pointer && pointer != "" {
			m.shown[i] = true
			f.Faults = append(f.Faults, fault.Message)
		}
	}
	f.Value = AsSent(m.values.Get(f.Name))
	if m.values.Has(whole + pointer) {
		f.Control, f.Name, f.Value = JSON, whole+pointer, m.values.Get(whole+pointer)
		f.Help = strings.TrimSpace(f.Help + " This is JSON: a text is in double quotes.")
		return f
	}
	m.shape(&f, n, depth)
	if lines := literal.Lines(f.Value); (f.Control == Input || f.Control == Area) && strings.Join(lines, "\n") != f.Value {
		f.Exactly = lines
	}
	return f
}

// Demanded reports whether a browser must not send the field empty.
func (f Field) Demanded() bool { return f.Required && f.Empty == "" }

func (m *maker) shape(f *Field, n *node, depth int) {
	branches := m.schema.branches(n)
	constant, enum := n.get("const").Value(), n.get("enum").List()
	values, labels := constants(branches)
	switch {
	case depth > deepest:
		f.Control = JSON
	case constant != nil:
		f.Control, f.Value, f.constant = Constant, job.ValueText(constant), constant
	case len(enum) > 0:
		m.choice(f, enum, n.get("enumNames").Texts(), Select) // enumNames is MCP elicitation's
	case values != nil:
		m.choice(f, values, labels, Select)
	case len(branches) > 0:
		m.union(f, branches, depth)
	default:
		m.plain(f, n, depth)
	}
}

func (m *maker) plain(f *Field, n *node, depth int) {
	switch n.typeOf() {
	case "object":
		m.object(f, n, depth)
	case "array":
		m.list(f, n, depth)
	case "string":
		f.text(n)
	case "integer", "number":
		f.Control, f.Type, f.Step, f.number = Input, "number", "any", true
		if n.typeOf() == "integer" {
			f.Step = "1"
		}
		minimum, _ := n.number("minimum")
		maximum, _ := n.number("maximum")
		f.Min, f.Max = minimum.String(), maximum.String()
		f.fit()
	case "boolean":
		m.choice(f, []any{true, false}, []string{"yes", "no"}, Select)
	default:
		f.Control = JSON
	}
}

// longText is the maximum length above which a text gets several lines.
const longText = 2000

func (f *Field) text(n *node) {
	f.Control, f.Type, f.MaxLength = Input, "text", n.integer("maxLength", 0)
	switch format := n.text("format"); format {
	case "date", "time", "email":
		f.Type = format
	case "date-time": // a date picker has no time zone
		f.Hint = "2026-03-02T18:00:00Z"
	case "uri", "url":
		f.Type = "url"
	case "":
		if f.MaxLength > longText || n.get("maxLength") == nil && n.text("pattern") == "" && isProse(f.Pointer) {
			f.Control = Area
		}
	}
	f.fit()
}

// kept match the texts that browsers keep in inputs of these types.
var kept = map[string]func() *regexp.Regexp{
	"number": lazy.Regexp(`^-?[0-9]{1,99}(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,2})?$`),
	"date":   lazy.Regexp(`^[1-9][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))$`),
	"time":   lazy.Regexp(`^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$`),
	"email":  lazy.Regexp(`^[!-~]+$`),
	"url":    lazy.Regexp(`^[!-~]+$`),
}

// fit chooses a control of another type if a browser would change the value in this one.
func (f *Field) fit() {
	if pattern := kept[f.Type]; f.Value != "" && pattern != nil && !pattern().MatchString(f.Value) {
		f.Type, f.Step, f.Min, f.Max = "text", "", "", ""
	}
	if strings.Contains(f.Value, "\n") {
		f.Control = Area
	}
}

// isProse reports whether a field's name suggests that people write sentences into it.
func isProse(pointer string) bool {
	name := strings.ToLower(pointer[strings.LastIndexByte(pointer, '/')+1:])
	return slices.Contains(
		[]string{"prompt", "text", "message", "description", "notes", "body", "content", "comment", "reason", "preferences"},
		name,
	)
}

// choice lists the values of an enum. What is filled in comes first in a list of several, in its order;
// what is none of the values is listed, too.
func (m *maker) choice(f *Field, values []any, labels []string, control Control) {
	f.Control = control
	var filled []string
	for _, text := range m.values[f.Name] {
		if text = AsSent(text); text != "" {
			filled = append(filled, text)
		}
	}
	for i, value := range values {
		text := job.ValueText(value)
		label := text
		if i < len(labels) {
			label = labels[i]
		}
		f.Options = append(f.Options, Option{text, literal.Line(label), slices.Contains(filled, AsSent(text)), value})
	}
	place := func(o Option) int { return slices.Index(filled, AsSent(o.Value)) }
	for _, text := range filled {
		if !slices.ContainsFunc(f.Options, func(o Option) bool { return AsSent(o.Value) == text }) {
			f.Options = append(f.Options, Option{text, literal.Line(text), true, text})
		}
	}
	if control == Checks {
		slices.SortStableFunc(f.Options, func(a, b Option) int { return cmp.Compare(uint(place(a)), uint(place(b))) })
	}
}

// constants returns the values of branches that are all constants. Schemas use such branches to give titles to
// the values of an enum.
func constants(branches []*node) (values []any, titles []string) {
	for _, branch := range branches {
		value := branch.get("const").Value()
		if value == nil {
			return nil, nil
		}
		values, titles = append(values, value), append(titles, cmp.Or(branch.text("title"), job.ValueText(value)))
	}
	return values, titles
}

func (m *maker) union(f *Field, branches []*node, depth int) {
	f.Control = Union
	f.CountName = "u" + f.Pointer
	chosen, _ := strconv.Atoi(m.values.Get(f.CountName))
	if chosen < 0 || chosen >= len(branches) {
		chosen = 0
	}
	for i, branch := range branches {
		f.Options = append(f.Options, Option{Value: strconv.Itoa(i), Label: branch.label(i), Chosen: i == chosen})
	}
	inner := m.field(branches[chosen], f.Pointer, "", f.Required, depth+1)
	inner.Help, inner.Faults, inner.Empty = "", nil, ""
	f.Fields = []Field{inner}
}

func (n *node) label(i int) string {
	if title := n.text("title"); title != "" {
		return title
	}
	for _, f := range n.members() { // {"type": {"const": "card"}}
		if c := f.part.Get("const").Value(); c != nil {
			return job.ValueText(c)
		}
	}
	return cmp.Or(n.typeOf(), fmt.Sprintf("choice %d", i+1))
}

func (m *maker) object(f *Field, n *node, depth int) {
	members := n.members()
	unsent := func(of member) bool { return strings.ContainsAny(of.name, "\r\n\x00") } // the name of a control cannot have these
	if len(members) == 0 || slices.ContainsFunc(members, unsent) {
		f.Control = JSON
		return
	}
	f.Control = Object
	for _, of := range members {
		part := m.schema.read(of.part)
		field := m.field(part, f.Pointer+job.Pointer(of.name), job.FieldLabel("", of.name), of.required, depth+1)
		field.property = of.name
		f.Fields = append(f.Fields, field)
	}
}

func (m *maker) list(f *Field, n *node, depth int) {
	if n.get("items") == nil {
		f.Control = JSON
		return
	}
	items := m.schema.read(n.get("items"))
	if values := m.schema.checks(n, items, f.Pointer); values != nil {
		m.choice(f, values, items.get("enumNames").Texts(), Checks)
		return
	}
	least := n.integer("minItems", 0)
	f.Control, f.CountName = List, "n"+f.Pointer
	f.Count = rows(m.values.Get(f.CountName), least, f.Required)
	f.Full, f.Fixed = f.Count >= n.integer("maxItems", mostRows+1), f.Count <= least
	for i := range f.Count {
		f.Fields = append(f.Fields, m.field(items, f.Pointer+"/"+strconv.Itoa(i), "", true, depth+1))
	}
}

// checks returns the values of a list that may have each of them once; nil for other lists.
func (s *Schema) checks(list, items *node, pointer string) []any {
	if values := s.resolve(items, pointer).get("enum").List(); list.get("uniqueItems").Is(true) && len(values) > 0 {
		return values
	}
	return nil
}

const mostRows = 200

// rows returns the number of rows of a list: as many as asked for, and those that it must have.
func rows(asked string, least int, required bool) int {
	count, _ := strconv.Atoi(asked) // 0 if there are none yet
	if required {
		count = max(count, least)
	}
	return min(max(count, 0), mostRows)
}
