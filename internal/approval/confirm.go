package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// What an action's confirm: may say, beside "when: <expression over input>".
const (
	ConfirmAlways = "always"
	ConfirmNever  = "never"
)

// Confirm says when a person must allow an action. The zero value is always.
type Confirm struct {
	never bool
	when  *vm.Program
}

// ParseConfirm reads "always", "never" or "when: <expression>", such as
// "when: input.amount > 100". Its error is for the author of a kind.
func ParseConfirm(text string) (Confirm, error) {
	condition, conditional := strings.CutPrefix(text, "when:")
	switch {
	case text == ConfirmAlways:
		return Confirm{}, nil
	case text == ConfirmNever:
		return Confirm{never: true}, nil
	case !conditional:
		return Confirm{}, fmt.Errorf(`found %q; allowed: always, never, "when: <expression over input>"`, text)
	}
	var numbers literals
	program, err := expr.Compile(strings.TrimSpace(condition), expr.Env(map[string]any{"input": map[string]any{}}), expr.AsBool(), expr.Patch(&numbers))
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return Confirm{}, errors.New(strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "interface {}", "any value").Replace(message))
	}
	if len(numbers.rounded) > 0 {
		return Confirm{}, fmt.Errorf("found %d, which a 64-bit float rounds to another number; expected one of at most 9007199254740992", numbers.rounded[0])
	}
	return Confirm{when: program}, nil
}

// literals collects the whole numbers of an expression that no 64-bit float holds: they
// would be compared as another number than the kind's author wrote.
type literals struct{ rounded []int }

// Visit implements the visitor of the expression library.
func (l *literals) Visit(n *ast.Node) {
	if whole, ok := (*n).(*ast.IntegerNode); ok && !isFloat(json.Number(strconv.Itoa(whole.Value))) {
		l.rounded = append(l.rounded, whole.Value)
	}
}

// Verdict is Ask or Allow. What the condition cannot decide, because a field is
// missing or of another type, is asked, and so is an input with a number that no 64-bit
// float holds exactly: conditions would compare another number than the one that runs.
func (c Confirm) Verdict(input map[string]any) Verdict {
	if c.never {
		return Allow
	}
	if c.when == nil {
		return Ask
	}
	var long longNumbers
	if long.takeOut("", input); len(long) > 0 {
		return Ask
	}
	result, err := expr.Run(c.when, map[string]any{"input": plainNumbers(input)})
	if asks, ok := result.(bool); err != nil || !ok || asks {
		return Ask
	}
	return Allow
}

// Fields are the fields of the input that the condition names, "a.b" for
// input.a.b. Where one of them cannot be there, nobody would be spared the
// question, or worse, everybody: the author of the kind is to be told.
func (c Confirm) Fields() []string {
	if c.when == nil {
		return nil
	}
	found := &members{}
	root := c.when.Node()
	ast.Walk(&root, found)
	return found.paths
}

// members collects the fields of the input that an expression names.
type members struct{ paths []string }

// Visit implements the visitor of the expression library.
func (m *members) Visit(n *ast.Node) {
	if path := memberPath(*n); path != "" && !slices.Contains(m.paths, path) {
		m.paths = append(m.paths, path)
	}
}

// memberPath is "a.b" for input.a.b and empty for all else.
func memberPath(n ast.Node) string {
	if chain, ok := n.(*ast.ChainNode); ok {
		return memberPath(chain.Node)
	}
	member, ok := n.(*ast.MemberNode)
	if !ok {
		return ""
	}
	field, ok := member.Property.(*ast.StringNode)
	if !ok {
		return ""
	}
	if of, ok := member.Node.(*ast.IdentifierNode); ok && of.Value == "input" {
		return field.Value
	}
	if before := memberPath(member.Node); before != "" {
		return before + "." + field.Value
	}
	return ""
}

// plainNumbers makes JSON numbers comparable in expressions.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case map[string]any:
		plain := make(map[string]any, len(v))
		for name, value := range v {
			plain[name] = plainNumbers(value)
		}
		return plain
	case []any:
		plain := make([]any, len(v))
		for i, value := range v {
			plain[i] = plainNumbers(value)
		}
		return plain
	}
	return v
}
