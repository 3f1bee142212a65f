package schema

import (
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// A list that arrives in batches is validated in two ways: each item by itself (Items), and
// the list so far by the schema's rules for the whole list. Rules that later batches can
// still satisfy, such as minItems, are left to the final batch; rules that they cannot,
// such as maxItems, reject the batch that breaks them. Otherwise all batches would be
// accepted and the final one rejected, with no way out.

// Batch is a part of a list that has been accepted.
type Batch struct {
	Index int
	Items []any
}

// finalFaults are the keywords with errors that no further item can fix.
var finalFaults = []string{"maxItems", "uniqueItems", "maxContains"}

// LimitsBatches reports whether the schema has rules that a single batch can break for the
// whole list.
func (s *Schema) LimitsBatches() bool {
	found := false
	s.root.walk(func(name string, _ *node) bool {
		found = found || slices.Contains(finalFaults, name)
		return !found
	})
	return found
}

// ImpossibleWith returns why no valid result can contain the accepted batches and these
// items as its list property; nil if one can.
func (s *Schema) ImpossibleWith(property string, before []Batch, items []any) []job.Detail {
	l := &listSoFar{schema: s, property: property, before: before, items: items}
	for _, b := range before {
		l.all = append(l.all, b.Items...)
	}
	l.all = append(l.all, items...)
	whole := map[string]any{property: l.all}
	if s.oversized(s.compiled, "", whole, nil) != nil {
		l.tooMany()
		return l.details
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(whole)); ok {
		for _, fault := range lasting(invalid) {
			if plainPointer(fault.InstanceLocation) == job.Pointer(property) {
				l.explain(fault)
			}
		}
	}
	sortDetails(l.details)
	return slices.Compact(l.details)
}

// lasting returns the errors that no further item and no other field can fix.
func lasting(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	keyword := lastToken(err.KeywordLocation)
	switch {
	case slices.Contains(finalFaults, keyword):
		return []*jsonschema.ValidationError{err}
	case keyword == "then" || keyword == "else" || keyword == "contains" || keyword == "minContains":
		return nil // further items may change the outcome
	}
	var found []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		more := lasting(cause)
		if len(more) == 0 && isAlternatives(err) {
			return nil // this form can still match
		}
		found = append(found, more...)
	}
	return found
}

// listSoFar is a list; its last items are being validated.
type listSoFar struct {
	schema     *Schema
	property   string
	before     []Batch
	items, all []any
	details    []job.Detail
}

func (l *listSoFar) add(path, format string, args ...any) {
	l.details = append(l.details, job.Detail{Path: job.Pointer(l.property) + path, Message: fmt.Sprintf(format, args...)})
}

func (l *listSoFar) explain(err *jsonschema.ValidationError) {
	e := explainer{schema: l.schema, instance: map[string]any{l.property: l.all}}
	f := e.faultOf(err)
	var first, second int
	switch {
	case f.keyword == "maxItems":
		l.tooMany()
	case f.keyword == "uniqueItems" && scanPair(err.Message, &first, &second):
		l.add(fmt.Sprintf("/%d", second-(len(l.all)-len(l.items))), "is the same as %s; every item of all batches must be different: leave it out", l.place(first))
	default:
		l.add("", "together with the earlier batches: found %s; expected %s that are %s", countIn(l.all),
			bounds(f.schema, "minContains", "maxContains"), e.describe(f.schema.get("contains")))
	}
}

// scanPair parses the indexes of two equal items from the library's message.
func scanPair(message string, first, second *int) bool {
	_, err := fmt.Sscanf(message, "items at index %d and %d are equal", first, second)
	return err == nil
}

// tooMany reports how many more items are allowed.
func (l *listSoFar) tooMany() {
	limit := l.schema.mostItems(l.property)
	room := limit - (len(l.all) - len(l.items))
	advice := fmt.Sprintf("send %d at most, then the final batch", room)
	if room <= 0 {
		advice = "send the final batch, with none"
	}
	l.add("", "found %s, after %d in earlier batches; all batches together may hold at most %d: %s",
		countIn(l.items), len(l.all)-len(l.items), limit, advice)
}

// place describes an item by its batch.
func (l *listSoFar) place(i int) string {
	for _, b := range l.before {
		if i < len(b.Items) {
			return fmt.Sprintf("item %d of batch %d", i, b.Index)
		}
		i -= len(b.Items)
	}
	return fmt.Sprintf("item %d of this batch", i)
}

// MostItems returns the maximum number of items of a list property; false if the schema
// sets none.
func (s *Schema) MostItems(property string) (int, bool) {
	limit := s.mostItems(property)
	return limit, limit >= 0
}

// mostItems returns the smallest maxItems that always applies; -1 for none.
func (s *Schema) mostItems(property string) int {
	limit := -1
	tighten := func(n int) {
		if n >= 0 && (limit < 0 || n < limit) {
			limit = n
		}
	}
	for _, part := range conjuncts(s.compiled, nil) {
		if list := part.Properties[property]; list != nil {
			for _, p := range conjuncts(list, nil) {
				tighten(p.MaxItems)
			}
		}
	}
	return limit
}

// conjuncts returns a schema and all schemas that must hold with it, by reference or allOf.
func conjuncts(s *jsonschema.Schema, found []*jsonschema.Schema) []*jsonschema.Schema {
	if s == nil || slices.Contains(found, s) {
		return found
	}
	found = conjuncts(s.Ref, append(found, s))
	for _, part := range s.AllOf {
		found = conjuncts(part, found)
	}
	return found
}
