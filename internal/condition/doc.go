// Package condition reads and evaluates the conditions in the front matter of kinds:
// expressions in the language of github.com/expr-lang/expr over JSON values, such as
//
//	input.amount > 100
//	all(result.suggestions, .date >= input.dateRangeStart)
//
// The expressions are the operator's, the values anybody's. Evaluating one is therefore bounded in
// time and memory, whatever the values are.
package condition
