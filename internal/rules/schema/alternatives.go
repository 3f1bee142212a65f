package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// alternatives explains the one form that was meant, if that is clear: the only one for a
// value of this type, or the only one whose constants (such as a "type" field) match.
// Otherwise it lists the forms.
func (e *explainer) alternatives(err *jsonschema.ValidationError) {
	path := err.InstanceLocation
	meant := without(err.Causes, func(leaf *jsonschema.ValidationError) bool {
		return leaf.InstanceLocation == path && lastToken(leaf.KeywordLocation) == "type"
	})
	if len(meant) > 1 {
		meant = without(meant, func(leaf *jsonschema.ValidationError) bool {
			keyword := lastToken(leaf.KeywordLocation)
			return (keyword == "const" || keyword == "enum") &&
				(leaf.InstanceLocation == path || parentPointer(leaf.InstanceLocation) == path)
		})
	}
	if len(meant) == 1 {
		e.walk(meant[0])
		return
	}
	f := e.faultOf(err)
	e.add(f.path, "found %s; expected %s", typed(f.value), e.describe(f.schema))
}

// without drops the forms that have an error that rules them out.
func without(
	forms []*jsonschema.ValidationError, rulesOut func(leaf *jsonschema.ValidationError) bool,
) []*jsonschema.ValidationError {
	return slices.DeleteFunc(slices.Clone(forms), func(form *jsonschema.ValidationError) bool {
		return slices.ContainsFunc(leaves(form), rulesOut)
	})
}

func (e *explainer) describe(schema *Node) string { return e.describeTo(schema, 3) }

func (e *explainer) describeTo(schema *Node, depth int) string {
	n := e.schema.resolve(schema)
	if n == nil || depth == 0 {
		return "a value"
	}
	if values := n.Get("enum"); values != nil {
		return "one of " + quoteAll(values.List())
	}
	if v := n.Get("const"); v != nil {
		return quote(v.value)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if forms := n.Get(keyword); forms != nil {
			return e.forms(forms.items, depth)
		}
	}
	return typeNames(n) + e.specifics(n)
}

func (e *explainer) forms(forms []*Node, depth int) string {
	words := make([]string, len(forms))
	for i, form := range forms {
		words[i] = e.describeTo(form, depth-1)
	}
	return strings.Join(slices.Compact(words), " or ")
}

func (e *explainer) specifics(n *Node) string {
	if format := n.Get("format").Text(); format != "" {
		return " (format " + format + suchAs(format) + ")"
	}
	var required []string
	for _, name := range n.Get("required").Texts() {
		if constant := n.Get("properties").Get(name).Get("const"); constant != nil {
			name += " " + quote(constant.value)
		}
		required = append(required, name)
	}
	if len(required) > 0 {
		return " with " + strings.Join(required, ", ")
	}
	return ""
}

func typeNames(n *Node) string {
	var names []string
	for _, name := range n.Get("type").Texts() {
		names = append(names, article(name))
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, " or ")
	case n.Get("properties") != nil || n.Get("required") != nil:
		return "an object"
	}
	return "a value"
}
