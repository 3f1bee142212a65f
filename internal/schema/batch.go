package schema

import (
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// A list that arrives in batches is judged twice: each item by itself (Items),
// and the list so far by what the schema says of the whole. What later batches
// may still mend, such as minItems, is left to the final one; what they cannot,
// such as maxItems, is refused at the batch that makes it so. Else all batches
// would be accepted and the final one refused, with no way out.

// Batch is a part of a list that was accepted before.
type Batch struct {
	Index int
	Items []any
}

// finalFaults are the keywords whose faults no further item can mend.
var finalFaults = []string{"maxItems", "uniqueItems", "maxContains"}

// LimitsBatches reports whether the schema says anything that one batch of the
// list can make impossible for all of them.
func (s *Schema) LimitsBatches() bool {
	found := false
	s.root.walk(func(name string, _ *node) bool {
		found = found || slices.Contains(finalFaults, name)
		return !found
	})
	return found
}

// ImpossibleWith says why no result can hold the batches accepted so far and
// these items as its list property; nil when one can.
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

// lasting finds the faults that no further item and no other field can mend.
func lasting(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	keyword := lastToken(err.KeywordLocation)
	switch {
	case slices.Contains(finalFaults, keyword):
		return []*jsonschema.ValidationError{err}
	case keyword == "then" || keyword == "else" || keyword == "contains" || keyword == "minContains":
		return nil // more items may decide it differently
	}
	var found []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		more := lasting(cause)
		if len(more) == 0 && isAlternatives(err) {
			return nil // this form is still open
		}
		found = append(found, more...)
	}
	return found
}

// listSoFar is a list of which the last items are in question.
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

// scanPair reads the places of two equal items from the library's message.
func scanPair(message string, first, second *int) bool {
	_, err := fmt.Sscanf(message, "items at index %d and %d are equal", first, second)
	return err == nil
}

// tooMany says how many items there is still room for.
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

// place names an item by its batch.
func (l *listSoFar) place(i int) string {
	for _, b := range l.before {
		if i < len(b.Items) {
			return fmt.Sprintf("item %d of batch %d", i, b.Index)
		}
		i -= len(b.Items)
	}
	return fmt.Sprintf("item %d of this batch", i)
}

// MostItems is how many items a list property may hold; false when the schema
// sets no limit.
func (s *Schema) MostItems(property string) (int, bool) {
	limit := s.mostItems(property)
	return limit, limit >= 0
}

// mostItems is the smallest maxItems that holds for certain; -1 for none.
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

// conjuncts lists a schema and what it refers to or is made of: all of them hold.
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
