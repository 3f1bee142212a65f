package condition

import (
	"reflect"
	"strconv"

	"github.com/expr-lang/expr/ast"
)

// visitor is called for each node of an expression.
type visitor func(n *ast.Node)

// Visit implements the visitor of the expression library.
func (v visitor) Visit(n *ast.Node) { v(n) }

// roundedInto collects the integers of an expression that a 64-bit float cannot represent:
// they would be compared as another number than the kind's author wrote.
func roundedInto(all *[]int) visitor {
	return func(n *ast.Node) {
		integer, ok := (*n).(*ast.IntegerNode)
		if ok && strconv.FormatFloat(float64(integer.Value), 'f', -1, 64) != strconv.Itoa(integer.Value) {
			*all = append(*all, integer.Value)
		}
	}
}

// meter adds the calls that count the cost of an expression: before each evaluation of a
// predicate, and around everything that creates a string or a list.
func meter(n *ast.Node) {
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

// requireFields adds the calls that fail for a field that is missing or null.
func requireFields(n *ast.Node) {
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

// pathOf returns "a.b" for input.a.b of the variable input, and "" for anything else.
func pathOf(n ast.Node, variable string) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return pathOf(n.Node, variable)
	case *ast.CallNode: // of fieldFunc
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && callee.Value == fieldFunc {
			return pathOf(n.Arguments[0], variable)
		}
	case *ast.MemberNode:
		field, named := n.Property.(*ast.StringNode)
		of, _ := n.Node.(*ast.IdentifierNode)
		switch before := pathOf(n.Node, variable); {
		case !named:
		case of != nil && of.Value == variable:
			return field.Value
		case before != "":
			return before + "." + field.Value
		}
	}
	return ""
}
