package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"ringback/internal/lazy"
)

// digits makes the numbers of a YAML file decode with all of their digits. The YAML library supports
// only 64-bit numbers; it decodes longer ones as null, and 1e3 as text.
type digits struct {
	// err describes a value that would not be the number that is written.
	err error
}

// Visit implements [ast.Visitor].
func (d *digits) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.MappingValueNode:
		n.Value = d.kept(n.Value)
	case *ast.SequenceNode:
		for i, value := range n.Values {
			n.Values[i] = d.kept(value)
		}
	case *ast.AnchorNode:
		n.Value = d.kept(n.Value)
	case *ast.TagNode: // these make the library convert any value to a number
		if tag := token.ReservedTagKeyword(n.Start.Value); tag == token.IntegerTag || tag == token.FloatTag {
			d.refuse(n)
		}
	}
	return d
}

var jsonNumber = lazy.Regexp(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// kept returns a json.Number for a value that is a number in JSON. It leaves texts and the whole
// numbers that only YAML knows, such as 0x1f and 1_000.
func (d *digits) kept(node ast.Node) ast.Node {
	at := node.GetToken()
	if at.Type == token.SingleQuoteType || at.Type == token.DoubleQuoteType {
		return node
	}
	if text := strings.TrimPrefix(at.Value, "+"); jsonNumber().MatchString(text) {
		return &ast.IntegerNode{BaseNode: &ast.BaseNode{}, Token: at, Value: json.Number(text)}
	}
	switch n := node.(type) {
	case *ast.IntegerNode:
		if n.Value == nil {
			d.refuse(n)
		}
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		d.refuse(n)
	}
	return node
}

func (d *digits) refuse(node ast.Node) {
	at := node.GetToken()
	d.err = fmt.Errorf(
		"[%d:%d] %s: found %s; write a number as in JSON, such as -12.5 or 1e3", at.Position.Line, at.Position.Column,
		strings.TrimPrefix(node.GetPath(), "$."), Quoted(at.Value),
	)
}
