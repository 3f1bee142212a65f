// Package form converts a JSON Schema to an HTML form, and what was filled in to JSON.
//
// The name of a control is "v" and the JSON pointer of its value, such as "v/title" or
// "v/repos/0/url". The control "n" with a list's pointer contains its number of rows; "u" with a
// pointer contains the chosen branch of a oneOf or anyOf. Adding and removing rows are buttons that
// send the form back (see Edit), so that it works without JavaScript.
//
// What is filled in and left untouched is sent exactly as it was. A form is decoded from what its controls
// show, as browsers send it, and a value is put into controls only if decoding them gives the same value
// (see put). A value that no other control can hold is entered as JSON, in the control "j" with its pointer;
// "e" with a pointer is the value that an empty control stands for.
package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ringback/internal/rules/schema"
)

// Schema is a JSON Schema for which forms can be made.
type Schema struct {
	*schema.Schema
	// cost is the cost of forms since it was last reset: see spend.
	cost int
}

// Parse parses a schema. The value of an empty schema is entered as JSON.
func Parse(text json.RawMessage) (*Schema, error) {
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	read, err := schema.Read(text)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	return &Schema{Schema: read}, nil
}

// node is a part of a schema: the schemas that hold there together, by reference or allOf.
type node struct {
	parts []*schema.Node
	// whole is the choice of which it is a branch; nil if it is none. Its fields are the branch's, too.
	whole *node
	// title and description are those of the choice of which it is the only branch; empty for its own.
	title, description string
}

// text returns the text of a keyword: of a choice, before that of its only branch.
func (n *node) text(keyword string) string {
	return cmp.Or(map[string]string{"title": n.title, "description": n.description}[keyword], n.get(keyword).Text())
}

func (n *node) get(keyword string) *schema.Node {
	for _, part := range n.parts {
		if value := part.Get(keyword); value != nil {
			return value
		}
	}
	return nil
}

// all returns the parts of a node and of the choice of which it is a branch, which come first.
func (n *node) all() []*schema.Node {
	if n.whole == nil {
		return n.parts
	}
	return slices.Concat(n.whole.all(), n.parts)
}

// types returns the types that a value can have, apart from null; none for any.
func (n *node) types() []string {
	for _, part := range slices.Backward(n.all()) {
		if types := part.Get("type").Texts(); types != nil {
			return slices.DeleteFunc(types, func(t string) bool { return t == "null" })
		}
	}
	return nil
}

// member is a field of an object.
type member struct {
	name     string
	part     *schema.Node
	required bool
}

// members returns the fields of an object, in their order.
func (n *node) members() (all []member) {
	at, required := map[string]int{}, map[string]bool{}
	for _, part := range n.all() {
		for name, property := range part.Get("properties").Fields() {
			if _, known := at[name]; !known {
				at[name] = len(all)
				all = append(all, member{name: name})
			}
			all[at[name]].part = property
		}
		for _, name := range part.Get("required").Texts() {
			required[name] = true
		}
	}
	for i := range all {
		all[i].required = required[all[i].name]
	}
	return all
}

func (n *node) number(keyword string) (number json.Number, ok bool) {
	number, ok = n.get(keyword).Value().(json.Number)
	return number, ok
}

// integer is number for a whole number; otherwise, it is returned.
func (n *node) integer(keyword string, otherwise int) int {
	number, _ := n.number(keyword)
	if i, err := number.Int64(); err == nil {
		return int(i)
	}
	return otherwise
}

// mostCost is the maximum cost of a form. A schema can refer to the same part many times, to
// itself, or ask for many rows, so that even a short one results in an endless form. The value of a
// schema that costs more is entered as JSON as a whole.
const mostCost = 600_000

// whole begins the names of controls with JSON in place of others; alone, it is that for the value of such a
// schema.
const whole = "j"

// spend counts a use of a part of the schema at a pointer, by its length. It reports whether more may be
// spent.
func (s *Schema) spend(n *schema.Node, pointer string) bool {
	s.cost += 1 + (n.Size()+len(pointer))/8
	return s.cost <= mostCost
}

const deepest = 6

// read returns a part of the schema with the parts that must hold with it; none if too much was spent.
func (s *Schema) read(part *schema.Node) *node {
	n := &node{parts: s.Parts(part)}
	for _, one := range n.parts {
		if !s.spend(one, "") {
			return &node{}
		}
	}
	return n
}

// resolve returns the branch of a choice between one schema and null, and any other node itself.
func (s *Schema) resolve(n *node, pointer string) *node {
	if len(n.parts) == 0 || !s.spend(n.parts[0], pointer) {
		return &node{}
	}
	branches := s.branches(n)
	if len(branches) != 1 {
		return n
	}
	only := branches[0]
	only.title, only.description = n.text("title"), n.text("description")
	return only
}

// branch returns the schema whose controls a form shows for a part: one of its branches, if it is a choice.
// It returns nil if there is no such branch.
func (s *Schema) branch(n *node, pointer string, chosen int) *node {
	n = s.resolve(n, pointer)
	branches := s.branches(n)
	if values, _ := constants(branches); values != nil || len(branches) == 0 {
		branches = []*node{n}
	}
	if chosen >= len(branches) {
		return nil
	}
	return branches[chosen]
}

// branches returns the schemas of a choice; nil if there is none. A null branch is left out: the
// value is then omitted.
func (s *Schema) branches(n *node) (branches []*node) {
	choices := n.get("oneOf").Items()
	if len(choices) == 0 {
		choices = n.get("anyOf").Items()
	}
	for _, choice := range choices {
		branch := s.read(choice)
		if len(branch.parts) == 0 {
			break // too much was spent
		}
		if branch.whole = n; !slices.Equal(branch.get("type").Texts(), []string{"null"}) && choice.Value() != nil {
			branches = append(branches, branch)
		}
	}
	return branches
}

// typeOf returns the single type that a value can have, apart from null; "" for any or several.
func (n *node) typeOf() string {
	types := n.types()
	switch {
	case len(types) == 1:
		return types[0]
	case len(types) > 1:
		return ""
	}
	if len(n.members()) > 0 {
		return "object"
	} else if n.get("items") != nil {
		return "array"
	}
	return ""
}
