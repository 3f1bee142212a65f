package condition

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
)

// literals collects the integers of an expression that a 64-bit float cannot represent:
// they would be compared as another number than the kind's author wrote.
type literals struct{ rounded []int }

// Visit implements the visitor of the expression library.
func (l *literals) Visit(n *ast.Node) {
	whole, ok := (*n).(*ast.IntegerNode)
	if ok && strconv.FormatFloat(float64(whole.Value), 'f', -1, 64) != strconv.Itoa(whole.Value) {
		l.rounded = append(l.rounded, whole.Value)
	}
}

// metered adds the calls that count the cost of an expression: before each evaluation of a
// predicate, and around everything that creates a string or a list.
type metered struct{}

// Visit implements the visitor of the expression library.
func (metered) Visit(n *ast.Node) {
	switch node := (*n).(type) {
	case *ast.PredicateNode:
		node.Node = &ast.SequenceNode{Nodes: []ast.Node{&ast.CallNode{Callee: &ast.IdentifierNode{Value: stepFunc}}, node.Node}}
	case *ast.BinaryNode:
		if node.Operator == "+" && isLarge(node) {
			*n = call(madeFunc, node)
		}
	case *ast.BuiltinNode:
		if isLarge(node) {
			*n = call(madeFunc, node)
		}
	}
}

// present adds the calls that fail for a field that is missing or null.
type present struct{}

// Visit implements the visitor of the expression library.
func (present) Visit(n *ast.Node) {
	switch node := (*n).(type) {
	case *ast.MemberNode:
		node.Optional = false
		*n = call(fieldFunc, node)
	case *ast.BuiltinNode:
		if node.Name == "get" {
			*n = call(fieldFunc, node)
		}
	}
}

func call(name string, node ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{node}}
}

// isLarge reports whether a value may be anything but a number or a boolean.
func isLarge(node ast.Node) bool {
	t := node.Type()
	if t == nil {
		return true
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Float64:
		return false
	default:
		return true
	}
}

type members struct {
	variable string
	paths    []string
}

// Visit implements the visitor of the expression library.
func (m *members) Visit(n *ast.Node) {
	if path := m.path(*n); path != "" && !slices.Contains(m.paths, path) {
		m.paths = append(m.paths, path)
	}
}

// path returns "a.b" for input.a.b, and "" for anything else.
func (m *members) path(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return m.path(n.Node)
	case *ast.CallNode: // of fieldFunc
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && callee.Value == fieldFunc {
			return m.path(n.Arguments[0])
		}
	}
	member, ok := n.(*ast.MemberNode)
	if !ok {
		return ""
	}
	field, ok := member.Property.(*ast.StringNode)
	if !ok {
		return ""
	}
	if of, ok := member.Node.(*ast.IdentifierNode); ok && of.Value == m.variable {
		return field.Value
	}
	if before := m.path(member.Node); before != "" {
		return before + "." + field.Value
	}
	return ""
}
