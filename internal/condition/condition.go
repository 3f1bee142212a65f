package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Condition is an expression that is true or false.
type Condition struct{ program *vm.Program }

// mostNodes is how many parts an expression may have.
const mostNodes = 500

// Parse reads an expression over the variables. Its error is for the author of a kind.
func Parse(text string, variables ...string) (*Condition, error) {
	env := (&budget{}).env(nil)
	for _, name := range variables {
		env[name] = map[string]any{}
	}
	var numbers literals
	program, err := expr.Compile(strings.TrimSpace(text), expr.Env(env), expr.AsBool(), expr.MaxNodes(mostNodes),
		expr.DisableBuiltin("now"), // the same values are always judged the same
		// What these make, or how long they take, is not bounded by the size of what they are given.
		expr.DisableBuiltin("repeat"), expr.DisableBuiltin("replace"), expr.DisableBuiltin("join"), expr.DisableBuiltin("uniq"),
		expr.Patch(&numbers), expr.Patch(metered{}))
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return nil, errors.New(strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "interface {}", "any value").Replace(message))
	}
	if len(numbers.rounded) > 0 {
		return nil, fmt.Errorf("found %d, which a 64-bit float rounds to another number; expected one of at most 9007199254740992", numbers.rounded[0])
	}
	return &Condition{program}, nil
}

// Holds evaluates the condition. The values are JSON objects by the names of the variables. It
// returns an error if they do not decide it, because a field is missing or of another type, or if
// it costs too much.
func (c *Condition) Holds(values map[string]any) (bool, error) {
	b := &budget{steps: mostSteps, bytes: mostBytes, until: time.Now().Add(mostTime)}
	result, err := expr.Run(c.program, b.env(values))
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return false, errors.New(message)
	}
	holds, ok := result.(bool)
	if !ok {
		return false, errors.New("the result is neither true nor false")
	}
	return holds, nil
}

// Fields returns the fields of a variable that the condition names, in their order: "a.b" for
// input.a.b of the variable input. Each path comes after those that it begins with.
func (c *Condition) Fields(variable string) []string {
	found := &members{variable: variable}
	root := c.program.Node()
	ast.Walk(&root, found)
	return found.paths
}

// Names reports whether the condition names a variable.
func (c *Condition) Names(variable string) bool {
	found := &identifiers{variable: variable}
	root := c.program.Node()
	ast.Walk(&root, found)
	return found.named
}

// plain makes JSON numbers comparable in expressions.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, value := range v {
			object[name] = plain(value)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = plain(value)
		}
		return list
	}
	return v
}

// What one evaluation may cost.
const (
	// mostSteps is how often the predicates of all(), map() and the like are evaluated.
	mostSteps = 100_000
	// mostBytes is how large all texts and lists together may be that are made.
	mostBytes = 16 << 20
	mostTime  = time.Second
)

// budget is what an evaluation may still cost.
type budget struct {
	steps, bytes int
	until        time.Time
}

// errCost is returned by a condition that costs too much with these values.
var errCost = errors.New("it takes too long to evaluate with these values")

// The functions that meter an expression. No expression can name them itself.
const (
	stepFunc = "step!"
	madeFunc = "made!"
)

func (b *budget) env(values map[string]any) map[string]any {
	env := map[string]any{stepFunc: b.step, madeFunc: b.made}
	for name, value := range values {
		env[name] = plain(value)
	}
	return env
}

func (b *budget) step() (bool, error) {
	if b.steps--; b.steps < 0 || time.Now().After(b.until) {
		return false, errCost
	}
	return true, nil
}

// made counts the size of a value that was made.
func (b *budget) made(v any) (any, error) {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.String:
		b.bytes -= value.Len()
	case reflect.Slice, reflect.Map:
		b.bytes -= 16 * value.Len()
	default:
	}
	if b.bytes < 0 || time.Now().After(b.until) {
		return nil, errCost
	}
	return v, nil
}
