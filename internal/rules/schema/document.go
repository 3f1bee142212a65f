package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// Node is a part of a JSON document with its line and the order of its fields, so that
// problems can refer to it and it can be written in its author's order. The methods accept
// a nil Node, which is a missing part.
type Node struct {
	line   int // of the field's name, if the node is a field
	size   int // of its text, in bytes
	value  any // decoded: map[string]any, []any, string, json.Number, bool or nil
	fields []field
	items  []*Node
}

type field struct {
	name string
	node *Node
}

// Read parses a schema without compiling it. It need not be valid, and validates nothing.
func Read(text []byte) (*Schema, error) {
	root, problems := parseDocument(text)
	if root == nil {
		return nil, Join(problems)
	}
	return newSchema(text, root), nil
}

func newSchema(source []byte, root *Node) *Schema {
	s := &Schema{source: source, root: root, node: root, anchors: map[string]*Node{}}
	root.walk(func(_ string, n *Node) bool {
		if name := n.Get("$anchor").Text(); name != "" {
			s.anchors[name] = n
		}
		return true
	})
	return s
}

// parseDocument parses one JSON value with nothing after it. The problems have no file yet.
func parseDocument(text []byte) (*Node, []Problem) {
	var ignored any
	if err := json.Unmarshal(text, &ignored); err != nil {
		return nil, []Problem{syntaxProblem(text, err)}
	}
	p := documentParser{text: text, line: 1, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	root := p.parse()
	return root, p.problems
}

func syntaxProblem(text []byte, err error) Problem {
	p := Problem{Line: 1, Message: "is not valid JSON: " + err.Error()}
	if len(bytes.TrimSpace(text)) == 0 {
		p.Message, p.Hint = "is empty", "Write a JSON Schema, at least {\"type\": \"object\"}, or delete the file."
	} else if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		p.Line = 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	return p
}

type documentParser struct {
	text     []byte
	dec      *json.Decoder
	line     int // of the last token
	counted  int // bytes of text whose lines are in line
	problems []Problem
}

func (p *documentParser) token() json.Token {
	t, _ := p.dec.Token() // the document is valid
	end := int(p.dec.InputOffset())
	p.line += bytes.Count(p.text[p.counted:end], []byte("\n"))
	p.counted = end
	return t
}

func (p *documentParser) parse() *Node {
	t := p.token()
	n, start := &Node{line: p.line, value: t}, p.counted
	switch t {
	case json.Delim('{'):
		n.value = p.object(n)
	case json.Delim('['):
		values := []any{}
		for p.dec.More() {
			n.items = append(n.items, p.parse())
			values = append(values, n.items[len(n.items)-1].value)
		}
		p.token()
		n.value = values
	default:
		n.size = len(fmt.Sprint(t))
	}
	n.size += p.counted - start
	return n
}

func (p *documentParser) object(n *Node) map[string]any {
	values := map[string]any{}
	for p.dec.More() {
		name, line := fmt.Sprint(p.token()), p.line
		if _, twice := values[name]; twice {
			p.problems = append(p.problems, Problem{Line: line, Message: fmt.Sprintf("%q is in the same object twice", name)})
		}
		child := p.parse()
		child.line, values[name] = line, child.value
		n.fields = append(n.fields, field{name, child})
	}
	p.token()
	return values
}

// Get returns a field; nil if n has none of that name.
func (n *Node) Get(name string) *Node {
	for _, f := range n.members() {
		if f.name == name {
			return f.node
		}
	}
	return nil
}

// At follows a JSON pointer; nil if it does not resolve.
func (n *Node) At(pointer string) *Node {
	for _, token := range pointerTokens(pointer) {
		if n == nil {
			return nil
		}
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.items) {
			n = n.items[i]
		} else {
			n = n.Get(token)
		}
	}
	return n
}

// nearest returns the part that a JSON pointer refers to, or the last existing part on its
// way.
func (n *Node) nearest(pointer string) *Node {
	for {
		if found := n.At(pointer); found != nil || pointer == "" {
			return found
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
}

// Value returns the decoded value; nil for a missing part.
func (n *Node) Value() any {
	if n == nil {
		return nil
	}
	return n.value
}

// Size returns the length of the part's text in bytes, about.
func (n *Node) Size() int { return n.size }

// Items returns the parts of a list.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.items
}

// Text returns a text; "" for anything else.
func (n *Node) Text() string {
	s, _ := n.Value().(string)
	return s
}

// Texts returns the texts in a list, or the one text that n is.
func (n *Node) Texts() []string {
	if text := n.Text(); text != "" {
		return []string{text}
	}
	var all []string
	for _, v := range n.List() {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// List returns the values of a list.
func (n *Node) List() []any {
	l, _ := n.Value().([]any)
	return l
}

// Is reports whether the part is this text, number or boolean.
func (n *Node) Is(v any) bool {
	if n == nil {
		return false
	}
	switch n.value.(type) {
	case map[string]any, []any:
		return false
	}
	return n.value == v
}

// members returns the fields in order.
func (n *Node) members() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

// Fields returns the fields in order.
func (n *Node) Fields() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		for _, f := range n.members() {
			if !yield(f.name, f.node) {
				return
			}
		}
	}
}

// Names returns the names of the fields in order.
func (n *Node) Names() (names []string) {
	for _, f := range n.members() {
		names = append(names, f.name)
	}
	return names
}

// walk visits n and everything in it until visit returns false for a part.
func (n *Node) walk(visit func(name string, n *Node) bool) {
	for _, f := range n.fields {
		if visit(f.name, f.node) {
			f.node.walk(visit)
		}
	}
	for _, item := range n.items {
		item.walk(visit)
	}
}

// changed returns a copy of n whose fields and items are replaced; nil leaves one out.
func (n *Node) changed(replace func(name string, n *Node) *Node) *Node {
	changed := &Node{line: n.line, value: n.value}
	for _, f := range n.fields {
		if f.node = replace(f.name, f.node); f.node != nil {
			changed.fields = append(changed.fields, f)
		}
	}
	for _, item := range n.items {
		if item = replace("", item); item != nil {
			changed.items = append(changed.items, item)
		}
	}
	return changed
}

func (n *Node) appendJSON(out *bytes.Buffer) {
	switch n.value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, f := range n.fields {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(compact(f.name) + ":")
			f.node.appendJSON(out)
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.appendJSON(out)
		}
		out.WriteByte(']')
	default:
		out.WriteString(compact(n.value))
	}
}

func (n *Node) decoded() (v any) {
	_ = job.UnmarshalExact(n.json(), &v) // it was parsed
	return v
}

// json returns the part without white space, with its fields in order.
func (n *Node) json() []byte {
	var out bytes.Buffer
	n.appendJSON(&out)
	return out.Bytes()
}

// compact returns v as JSON without escaping <, > and &.
func compact(v any) string {
	return cmp.Or(string(job.PlainJSON(v)), "null")
}
