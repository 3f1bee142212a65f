// Package condition parses and evaluates the conditions in the front matter of kinds:
// expressions in the language of github.com/expr-lang/expr over JSON values, such as
//
//	input.amount > 100
//	all(result.suggestions, .date >= input.dateRangeStart)
//
// The expressions come from the operator, but the values from untrusted callers. Evaluation
// is therefore bounded in time and memory for all values.
package condition
