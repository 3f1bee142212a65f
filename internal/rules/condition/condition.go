package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"ringback/internal/job"
)

// Condition is a boolean expression.
type Condition struct{ program *vm.Program }

const mostNodes = 500

// Parse parses an expression over the variables. Its error is meant for the author of the
// kind.
func Parse(text string, variables ...string) (*Condition, error) {
	return parse(text, variables)
}

// ParseStrict is Parse for a condition that must not be decided by a field that is missing or null:
// Holds returns an error if the condition reads one, with or without "?.".
func ParseStrict(text string, variables ...string) (*Condition, error) {
	return parse(text, variables, expr.Patch(visitor(requireFields)))
}

func parse(text string, variables []string, more ...expr.Option) (*Condition, error) {
	env := (&budget{}).env(nil)
	for _, name := range variables {
		env[name] = map[string]any{}
	}
	var rounded []int
	options := append([]expr.Option{
		expr.Env(env), expr.AsBool(), expr.MaxNodes(mostNodes),
		expr.DisableBuiltin("now"), // the same values must always give the same result
		// The size of these functions' results, or their running time, is not bounded by
		// the size of their arguments.
		expr.DisableBuiltin("repeat"), expr.DisableBuiltin("replace"), expr.DisableBuiltin("join"), expr.DisableBuiltin("uniq"),
		expr.Patch(roundedInto(&rounded)), expr.Patch(visitor(meter)),
	}, more...)
	program, err := expr.Compile(strings.TrimSpace(text), options...)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		words := strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "interface {}", "any value")
		return nil, errors.New(words.Replace(message))
	}
	if len(rounded) > 0 {
		return nil, fmt.Errorf(
			"found %d, which a 64-bit float rounds to another number; expected one of at most 9007199254740992", rounded[0])
	}
	return &Condition{program}, nil
}

// Holds evaluates the condition. values contains a JSON object for each variable. It
// returns an error if the values do not decide it, because a field is missing or has
// another type, or if the evaluation is too expensive.
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

// Fields returns the fields of a variable that the condition refers to, in order: "a.b" for
// input.a.b of the variable input. Each path comes after its prefixes.
func (c *Condition) Fields(variable string) []string {
	var paths []string
	root := c.program.Node()
	ast.Walk(&root, visitor(func(n *ast.Node) {
		if path := pathOf(*n, variable); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}))
	return paths
}

// Names reports whether the condition refers to a variable.
func (c *Condition) Names(variable string) bool {
	return ast.Find(c.program.Node(), func(n ast.Node) bool {
		of, ok := n.(*ast.IdentifierNode)
		return ok && of.Value == variable
	}) != nil
}

// plain converts JSON numbers so that expressions can compare them.
func plain(v any) any {
	return job.Converted(v, func(_ string, v any) any {
		number, ok := v.(json.Number)
		if !ok {
			return v
		}
		if f, err := number.Float64(); err == nil {
			return f
		}
		return number.String()
	})
}

// Limits of one evaluation.
const (
	mostSteps = 100_000  // limits how often the predicates of all(), map() and the like are evaluated
	mostBytes = 16 << 20 // limits the total size of the strings and lists created
	mostTime  = time.Second
)

// budget is the remaining cost that an evaluation may have.
type budget struct {
	steps, bytes int
	until        time.Time
}

var errCost = errors.New("it takes too long to evaluate with these values")

// The functions that meter an expression, and that read a field. Their names are not valid in
// expressions.
const (
	stepFunc  = "step!"
	madeFunc  = "made!"
	fieldFunc = "field!"
)

func (b *budget) env(values map[string]any) map[string]any {
	env := map[string]any{stepFunc: b.step, madeFunc: b.made, fieldFunc: field}
	for name, value := range values {
		env[name] = plain(value)
	}
	return env
}

// field returns the value of a field that must be there.
func field(v any) (any, error) {
	if v == nil {
		return nil, errors.New("a field is missing or null")
	}
	return v, nil
}

func (b *budget) step() (bool, error) {
	if b.steps--; b.steps < 0 || time.Now().After(b.until) {
		return false, errCost
	}
	return true, nil
}

// made deducts the size of a new value from the budget.
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
