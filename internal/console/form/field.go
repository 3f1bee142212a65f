package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
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
	// Label and Help are for people.
	Label, Help string
	// Required is true if a value must be given.
	Required bool
	// Type is the type of an Input: text, number, date, datetime-local, time, email or url.
	Type string
	// Value is the filled-in value.
	Value string
	// Hint is shown while nothing is filled in: the default value.
	Hint           string
	Min, Max, Step string
	MaxLength      int
	Options        []Option
	Fields         []Field
	// property is the name of the value in its object; values are those of Options, or of a Constant.
	property string
	values   []any
	// Count is the number of rows of a List, and CountName the name of the control with that
	// number. Full is true if no row can be added, Fixed if none can be removed.
	Count       int
	CountName   string
	Full, Fixed bool
	// Faults describe what is wrong with the value.
	Faults []string
}

// Option is one of several values to choose from.
type Option struct {
	Value, Label string
	Chosen       bool
}

// maker creates the fields of one form.
type maker struct {
	schema *Schema
	values url.Values
	faults []job.Detail
	told   map[int]bool
}

// Form returns the form with what was filled in and the faults of that. values are the values of
// its controls; faults have the paths of values, "" for the whole.
func (s *Schema) Form(values url.Values, faults []job.Detail) Field {
	s.cost = 0
	m := maker{schema: s, values: values, faults: faults, told: map[int]bool{}}
	field := m.field(s.root, "", "", true, 0)
	if s.cost > mostCost || values.Has(whole) {
		field = Field{Control: JSON, Name: whole, Label: "JSON", Required: true, Value: values.Get(whole)}
		m.told = map[int]bool{}
	}
	for i, fault := range faults { // faults that no control shows
		if !m.told[i] {
			field.Faults = append(field.Faults, strings.TrimPrefix(fault.Path+": "+fault.Message, ": "))
		}
	}
	return field
}

func (m *maker) field(n *node, pointer, label string, required bool, depth int) Field {
	n = m.schema.resolve(n, pointer)
	f := Field{Pointer: pointer, Name: "v" + pointer, Label: cmp.Or(n.Title, label), Help: n.Description, Required: required}
	if label == "" {
		f.Label = ""
	}
	f.Value = m.values.Get(f.Name)
	if len(n.Default) > 0 {
		f.Hint = strings.Trim(string(n.Default), `"`)
	}
	for i, fault := range m.faults {
		if fault.Path == pointer && pointer != "" {
			m.told[i] = true
			f.Faults = append(f.Faults, fault.Message)
		}
	}
	m.shape(&f, n, depth)
	return f
}

// shape sets the control for a value.
func (m *maker) shape(f *Field, n *node, depth int) {
	branches := m.schema.branches(n)
	switch {
	case depth > deepest:
		f.Control = JSON
	case n.Const != nil:
		f.Control, f.Value, f.values = Constant, job.ValueText(n.Const), []any{n.Const}
	case len(n.Enum) > 0:
		m.choice(f, n)
	case choices(branches) != nil:
		m.choice(f, choices(branches))
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
		f.Control, f.Type, f.Step = Input, "number", "any"
		if n.typeOf() == "integer" {
			f.Step = "1"
		}
		f.Min, f.Max = numberText(n.Minimum), numberText(n.Maximum)
	case "boolean":
		m.choice(f, &node{Enum: []any{true, false}, EnumNames: []string{"yes", "no"}})
	default:
		f.Control = JSON
	}
}

// longText is the maximum length above which a text gets several lines.
const longText = 2000

func (f *Field) text(n *node) {
	f.Control, f.Type = Input, "text"
	if n.MaxLength != nil {
		f.MaxLength = *n.MaxLength
	}
	switch n.Format {
	case "date", "time", "email":
		f.Type = n.Format
	case "date-time": // a date picker has no time zone
		f.Hint = cmp.Or(f.Hint, "2026-03-02T18:00:00Z")
	case "uri", "url":
		f.Type = "url"
	case "":
		if f.MaxLength > longText || n.MaxLength == nil && n.Pattern == "" && f.MaxLength == 0 && isProse(f.Pointer) {
			f.Control = Area
		}
	}
	if strings.ContainsAny(f.Value, "\r\n") { // a single line would lose its line breaks
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

func numberText(n *json.Number) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// choice lists the values of an enum.
func (m *maker) choice(f *Field, n *node) {
	f.Control, f.values = Select, n.Enum
	for i, value := range n.Enum {
		text := job.ValueText(value)
		label := text
		if i < len(n.EnumNames) {
			label = n.EnumNames[i]
		}
		f.Options = append(f.Options, Option{text, label, slices.Contains(m.values[f.Name], text)})
	}
}

// choices combines branches that are constants into one list; nil if any is not a constant.
// Schemas use constants with titles to give titles to the values of an enum.
func choices(branches []*node) *node {
	all := &node{}
	for _, branch := range branches {
		if branch.Const == nil {
			return nil
		}
		all.Enum = append(all.Enum, branch.Const)
		all.EnumNames = append(all.EnumNames, cmp.Or(branch.Title, job.ValueText(branch.Const)))
	}
	if len(all.Enum) == 0 {
		return nil
	}
	return all
}

func (m *maker) union(f *Field, branches []*node, depth int) {
	f.Control = Union
	f.CountName = "u" + f.Pointer
	chosen, _ := strconv.Atoi(m.values.Get(f.CountName))
	if chosen < 0 || chosen >= len(branches) {
		chosen = 0
	}
	for i, branch := range branches {
		f.Options = append(f.Options, Option{strconv.Itoa(i), branchLabel(branch, i), i == chosen})
	}
	inner := m.field(branches[chosen], f.Pointer, "", f.Required, depth+1)
	inner.Help, inner.Faults = "", nil
	f.Fields = []Field{inner}
}

func branchLabel(n *node, i int) string {
	if n.Title != "" {
		return n.Title
	}
	for _, name := range n.Properties.names { // {"type": {"const": "card"}}
		if c := n.Properties.byName[name].Const; c != nil {
			return job.ValueText(c)
		}
	}
	return cmp.Or(n.typeOf(), fmt.Sprintf("choice %d", i+1))
}

func (m *maker) object(f *Field, n *node, depth int) {
	if len(n.Properties.names) == 0 {
		f.Control = JSON
		return
	}
	f.Control = Object
	for _, name := range n.Properties.names {
		required := slices.Contains(n.Required, name)
		field := m.field(n.Properties.byName[name], f.Pointer+job.Pointer(name), Words(name), required, depth+1)
		field.property = name
		f.Fields = append(f.Fields, field)
	}
}

func (m *maker) list(f *Field, n *node, depth int) {
	if n.Items == nil {
		f.Control = JSON
		return
	}
	if item := m.schema.resolve(n.Items, f.Pointer); len(item.Enum) > 0 && n.Unique {
		m.choice(f, item)
		f.Control = Checks
		return
	}
	f.Control, f.CountName = List, "n"+f.Pointer
	f.Count = rows(m.values.Get(f.CountName), n.MinItems, f.Required)
	f.Full = n.MaxItems != nil && f.Count >= *n.MaxItems
	f.Fixed = f.Count <= n.MinItems
	for i := range f.Count {
		f.Fields = append(f.Fields, m.field(n.Items, f.Pointer+"/"+strconv.Itoa(i), "", true, depth+1))
	}
}

// mostRows is the maximum number of rows of a list on a form.
const mostRows = 200

// rows returns the number of rows of a list: as many as asked for, and those that it must have.
func rows(asked string, least int, required bool) int {
	count, _ := strconv.Atoi(asked) // 0 if there are none yet
	if required {
		count = max(count, least)
	}
	return min(max(count, 0), mostRows)
}

// Words converts a name to words: dateRangeStart is "Date range start".
func Words(name string) string {
	var out strings.Builder
	for i, r := range strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "-", " ") {
		switch {
		case i == 0:
			out.WriteString(strings.ToUpper(string(r)))
		case r >= 'A' && r <= 'Z':
			out.WriteString(" " + strings.ToLower(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	for short, right := range map[string]string{"Url": "URL", "Id": "ID", "Usd": "USD"} {
		if out.String() == short {
			return right
		}
	}
	return out.String()
}
