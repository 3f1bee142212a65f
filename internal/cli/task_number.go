package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"ringback/internal/lazy"
)

// keepDigits makes the numbers below a node of a YAML file decode to what was written,
// each with all of its digits: the YAML library knows 64-bit numbers only, takes longer
// ones for null, and 1e3 for text. It returns the node that takes the place of this one.
// path is where the node stands, for the error.
func keepDigits(path string, node ast.Node) (ast.Node, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if _, err := keepDigits(path, pair); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		return n, replaceNode(path+"."+n.Key.String(), &n.Value)
	case *ast.SequenceNode:
		for i := range n.Values {
			if err := replaceNode(fmt.Sprintf("%s[%d]", path, i), &n.Values[i]); err != nil {
				return nil, err
			}
		}
	case *ast.AnchorNode:
		return n, replaceNode(path, &n.Value)
	case *ast.TagNode:
		return n, tagged(path, n)
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return scalar(path, n)
	}
	return node, nil
}

func replaceNode(path string, node *ast.Node) error {
	kept, err := keepDigits(path, *node)
	if err == nil {
		*node = kept
	}
	return err
}

// tagged refuses the tags by which the library makes a number of anything, and looks into
// what other tags stand before.
func tagged(path string, n *ast.TagNode) error {
	if tag := token.ReservedTagKeyword(n.Start.Value); tag == token.IntegerTag || tag == token.FloatTag {
		return numberFault(n.GetToken(), path, n.Start.Value)
	}
	switch n.Value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
		return replaceNode(path, &n.Value)
	}
	return nil
}

var jsonNumber = lazy.Regexp(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// scalar makes a json.Number of what is written as one in JSON, and leaves texts and the
// whole numbers that YAML alone knows, such as 0x1f and 1_000.
func scalar(path string, node ast.Node) (ast.Node, error) {
	at := node.GetToken()
	if at.Type == token.SingleQuoteType || at.Type == token.DoubleQuoteType {
		return node, nil
	}
	if text := strings.TrimPrefix(at.Value, "+"); jsonNumber().MatchString(text) {
		return &ast.IntegerNode{BaseNode: &ast.BaseNode{}, Token: at, Value: json.Number(text)}, nil
	}
	switch n := node.(type) {
	case *ast.StringNode:
		return n, nil
	case *ast.IntegerNode:
		if n.Value != nil {
			return n, nil
		}
	}
	return nil, numberFault(at, path, at.Value)
}

func numberFault(at *token.Token, path, found string) error {
	return fmt.Errorf("[%d:%d] %s: found %s; write a number as in JSON, such as -12.5 or 1e3", at.Position.Line, at.Position.Column, path, Quoted(found))
}
