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
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
)

// Schema is a JSON Schema for which forms can be made.
type Schema struct {
	root *node
	text json.RawMessage
	// cost is the cost of forms since it was last reset: see spend.
	cost int
}

// node is a part of a schema.
type node struct {
	Ref         string           `json:"$ref"`
	Type        types            `json:"type"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Enum        []any            `json:"enum"`
	EnumNames   []string         `json:"enumNames"` // MCP elicitation
	Const       any              `json:"const"`
	Default     json.RawMessage  `json:"default"`
	Format      string           `json:"format"`
	Pattern     string           `json:"pattern"`
	MaxLength   *int             `json:"maxLength"`
	Minimum     *json.Number     `json:"minimum"`
	Maximum     *json.Number     `json:"maximum"`
	MinItems    int              `json:"minItems"`
	MaxItems    *int             `json:"maxItems"`
	Unique      bool             `json:"uniqueItems"`
	Required    []string         `json:"required"`
	Properties  properties       `json:"properties"`
	Items       *node            `json:"items"`
	OneOf       []*node          `json:"oneOf"`
	AnyOf       []*node          `json:"anyOf"`
	AllOf       []*node          `json:"allOf"`
	Defs        map[string]*node `json:"$defs"`
	Definitions map[string]*node `json:"definitions"`
}

// types is the value of "type": one name, or several.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// properties are the fields of an object, in their original order.
type properties struct {
	names  []string
	byName map[string]*node
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *properties) UnmarshalJSON(text []byte) error {
	if err := job.UnmarshalExact(text, &p.byName); err != nil {
		return err
	}
	for name := range job.Members(text) {
		if p.byName[name] == nil { // null, which any value fits
			p.byName[name] = &node{}
		}
		p.names = append(p.names, name)
	}
	return nil
}

// Parse parses a schema. The value of an empty schema is entered as JSON.
func Parse(text json.RawMessage) (*Schema, error) {
	root := &node{}
	if len(text) > 0 {
		if err := job.UnmarshalExact(text, root); err != nil {
			return nil, fmt.Errorf("the schema: %w", err)
		}
	}
	return &Schema{root: root, text: text}, nil
}

// mostCost is the maximum cost of a form. A schema can refer to the same part many times, to
// itself, or ask for many rows, so that even a short one results in an endless form. The value of a
// schema that costs more is entered as JSON as a whole.
const mostCost = 200_000

// whole begins the names of controls with JSON in place of others; alone, it is that for the value of such a
// schema.
const whole = "j"

// spend counts a use of a part of the schema at a pointer: about one for each value and name that
// the form would contain. It reports whether more may be spent.
func (s *Schema) spend(n *node, pointer string) bool {
	s.cost += 1 + len(n.Enum) + len(n.Required) + len(n.Properties.names) + len(n.OneOf) + len(n.AnyOf) + len(n.AllOf) +
		(len(pointer)+len(n.Title)+len(n.Description)+len(n.Default)+len(n.Pattern))/8
	return s.cost <= mostCost
}

const deepest = 6

// resolve returns one schema that combines references, allOf, and a choice between one type and
// null.
func (s *Schema) resolve(n *node, pointer string) *node {
	if n == nil || !s.spend(n, pointer) {
		return &node{}
	}
	n = s.follow(n)
	if branches := s.branches(n); len(branches) == 1 {
		only := *branches[0]
		only.Title, only.Description = cmp.Or(n.Title, only.Title), cmp.Or(n.Description, only.Description)
		return &only
	}
	return n
}

// follow follows references, and merges an allOf.
func (s *Schema) follow(n *node) *node {
	for range deepest {
		name, isDef := strings.CutPrefix(n.Ref, "#/$defs/")
		target := s.root.Defs[name]
		if !isDef {
			name, isDef = strings.CutPrefix(n.Ref, "#/definitions/")
			target = s.root.Definitions[name]
		}
		if !isDef || target == nil {
			break
		}
		found := *target
		if !s.spend(&found, "") {
			return &node{}
		}
		found.Title, found.Description = cmp.Or(n.Title, found.Title), cmp.Or(n.Description, found.Description)
		n = &found
	}
	if len(n.AllOf) > 0 {
		return s.join(n)
	}
	return n
}

func (s *Schema) join(n *node) *node {
	all := *n
	all.AllOf = nil
	all.Properties = properties{slices.Clone(n.Properties.names), map[string]*node{}}
	maps.Copy(all.Properties.byName, n.Properties.byName)
	for _, part := range n.AllOf {
		if part == nil {
			continue
		}
		if !s.spend(part, "") || !s.spend(&all, "") {
			break
		}
		part = s.follow(part)
		if len(all.Type) == 0 {
			all.Type = part.Type
		}
		all.Required = append(all.Required, part.Required...)
		for _, name := range part.Properties.names {
			if all.Properties.byName[name] == nil {
				all.Properties.names = append(all.Properties.names, name)
			}
			all.Properties.byName[name] = part.Properties.byName[name]
		}
	}
	return &all
}

// branch returns the schema whose controls a form shows for a part: one of its branches, if it is a choice.
// It returns nil if there is no such branch.
func (s *Schema) branch(n *node, pointer string, chosen int) *node {
	n = s.resolve(n, pointer)
	branches := s.branches(n)
	if choices(branches) != nil || len(branches) == 0 {
		branches = []*node{n}
	}
	if chosen >= len(branches) {
		return nil
	}
	return branches[chosen]
}

// branches returns the schemas of a choice; nil if there is none. A null branch is left out: the
// value is then omitted.
func (s *Schema) branches(n *node) []*node {
	choices := n.OneOf
	if len(choices) == 0 {
		choices = n.AnyOf
	}
	var branches []*node
	for _, choice := range choices {
		if choice == nil {
			continue
		}
		if !s.spend(choice, "") {
			break
		}
		choice = s.follow(choice)
		if slices.Equal(choice.Type, types{"null"}) {
			continue
		}
		if len(choice.Type) == 0 && len(choice.Properties.names) > 0 || len(choice.Type) == 0 && len(n.Type) > 0 {
			merged := *choice
			merged.Type = n.Type
			choice = &merged
		}
		if len(n.Properties.names) > 0 { // fields of all branches
			choice = s.join(&node{
				Title: choice.Title, Description: choice.Description, Type: n.Type,
				AllOf: []*node{{Type: n.Type, Required: n.Required, Properties: n.Properties}, choice},
			})
		}
		branches = append(branches, choice)
	}
	return branches
}

// typeOf returns the single type that a value can have, besides null; "" for any or several.
func (n *node) typeOf() string {
	rest := slices.DeleteFunc(slices.Clone(n.Type), func(t string) bool { return t == "null" })
	switch {
	case len(rest) == 1:
		return rest[0]
	case len(rest) == 0 && len(n.Properties.names) > 0:
		return "object"
	case len(rest) == 0 && n.Items != nil:
		return "array"
	}
	return ""
}
