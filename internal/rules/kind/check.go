package kind

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"ringback/internal/job"
	"ringback/internal/rules/condition"
	"ringback/internal/rules/schema"
)

// Rule is a check between fields, which no schema can express.
type Rule struct {
	// That is an expression that must be true: over input, and also over result for a check
	// of the result.
	That string `yaml:"that"`
	// Message describes the mistake to the sender of the input or the result.
	Message string `yaml:"message"`

	line      int // Its line in the kind's file.
	condition *condition.Condition
	ofResult  bool   // True if the check is for the result instead of the input.
	at        string // The first field in the expression, as a JSON pointer.
}

const (
	inputVariable  = "input"
	resultVariable = "result"
)

// CheckInput returns the checks that an input breaks. The input must fit its schema.
func (k *Kind) CheckInput(input map[string]any) []job.Detail {
	return k.check(false, map[string]any{inputVariable: input})
}

// checkResult returns the checks that a result breaks. The result must fit its schema.
func (k *Kind) checkResult(result any, inputFunc InputFunc) ([]job.Detail, error) {
	if !k.checksResult() || inputFunc == nil {
		return nil, nil
	}
	text, err := inputFunc()
	if err != nil {
		return nil, err
	}
	var input any
	if err := job.UnmarshalExact(text, &input); err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	return k.check(true, map[string]any{inputVariable: input, resultVariable: result}), nil
}

func (k *Kind) checksResult() bool {
	return slices.ContainsFunc(k.Policy.Check, func(c *Rule) bool { return c.ofResult })
}

func (k *Kind) check(ofResult bool, values map[string]any) []job.Detail {
	var details []job.Detail
	for _, c := range k.Policy.Check {
		if c.ofResult != ofResult {
			continue
		}
		holds, err := c.condition.Holds(values)
		switch {
		case err != nil:
			details = append(details, job.Detail{Path: c.at, Message: fmt.Sprintf("%s (this could not be checked: %v)", c.Message, err)})
		case !holds:
			details = append(details, job.Detail{Path: c.at, Message: c.Message})
		}
	}
	return details
}

// InputFunc returns the input of the job that the checked result belongs to.
type InputFunc func() (json.RawMessage, error)

// parse compiles the expression, and returns what is wrong with the check; "" if nothing is.
func (c *Rule) parse() string {
	if strings.TrimSpace(c.That) == "" || strings.TrimSpace(c.Message) == "" {
		return "each check needs that, an expression over input and result, and a message for when it is not true"
	}
	var err error
	if c.condition, err = condition.Parse(c.That, inputVariable, resultVariable); err != nil {
		return "that: " + err.Error()
	}
	of := inputVariable
	if c.ofResult = c.condition.Names(resultVariable); c.ofResult {
		of = resultVariable
	}
	if fields := c.condition.Fields(of); len(fields) > 0 {
		first := fields[0]
		for _, path := range fields[1:] {
			if strings.HasPrefix(path, first+".") {
				first = path
			}
		}
		c.at = job.Pointer(strings.Split(first, ".")...)
	}
	return ""
}

func (p *Policy) checkProblems(list ast.Node) (problems []Problem) {
	for i, c := range p.Check {
		line, fault := lineOf(list, strconv.Itoa(i)), "it is empty"
		if c != nil {
			c.line = line
			fault = c.parse()
		}
		if fault != "" {
			problems = append(problems, Problem{Line: line, Message: fmt.Sprintf("check: number %d: %s", i+1, fault), Unreadable: true})
		}
	}
	return problems
}

// checkChecks finds checks that use a field that cannot exist, or that fail on the smallest input
// and result of the schemas.
func checkChecks(k *Kind) (problems []Problem) {
	problem := func(i int, message, hint string) {
		problems = append(
			problems,
			Problem{Line: k.Policy.Check[i].line, Message: "check: number " + strconv.Itoa(i+1) + ": " + message, Hint: hint},
		)
	}
	for i, c := range k.Policy.Check {
		if c == nil || c.condition == nil {
			continue // reported as a problem of the front matter
		}
		before := len(problems)
		values := map[string]any{}
		for variable, s := range map[string]*schema.Schema{inputVariable: k.Input, resultVariable: k.Result} {
			if s == nil {
				return problems
			}
			for _, path := range c.condition.Fields(variable) {
				if message, hint := s.FieldFault(path); message != "" {
					problem(i, "that: "+variable+"."+path+": "+message, hint)
				}
			}
			example, err := s.LeastExample("example")
			if err != nil {
				return problems
			}
			values[variable] = example
		}
		if len(problems) > before {
			continue
		}
		if _, err := c.condition.Holds(values); err != nil {
			problem(
				i, "that: it fails if optional fields are missing: "+err.Error(),
				`Cover that case, too, such as input.size == nil or input.size > 0.`,
			)
		}
	}
	return problems
}
