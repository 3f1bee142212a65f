package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"ringback/internal/lazy"
)

// keepDigits makes the numbers below a node of a YAML file decode with all of their digits. The
// YAML library supports only 64-bit numbers; it decodes longer ones as null, and 1e3 as text. It
// returns the replacement for the node. path is the node's path, for errors.
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

// tagged refuses the tags that make the library convert any value to a number. It descends into the
// values of other tags.
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

// scalar returns a json.Number for a value that is a number in JSON. It leaves texts and the whole
// numbers that only YAML knows, such as 0x1f and 1_000.
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
	return fmt.Errorf(
		"[%d:%d] %s: found %s; write a number as in JSON, such as -12.5 or 1e3", at.Position.Line, at.Position.Column, path,
		Quoted(found),
	)
}
