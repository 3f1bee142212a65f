package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

// A list that arrives in batches is validated in two ways: each item by itself (Items), and
// the list so far by maxItems and uniqueItems, because no later batch can repair those.
// Otherwise all batches would be accepted and the final one rejected, with no way out.

// Batch is a part of a list that has been accepted.
type Batch struct {
	Index int
	Items []any
}

// LimitsBatches reports whether a single batch can break a rule for a whole list property.
func (s *Schema) LimitsBatches(property string) bool {
	return slices.ContainsFunc(
		s.listParts(property), func(list *jsonschema.Schema) bool { return list.MaxItems >= 0 || list.UniqueItems },
	)
}

// ImpossibleWith returns why no valid result can contain the accepted batches and these
// items as its list property; nil if one can.
func (s *Schema) ImpossibleWith(property string, before []Batch, items []any) []job.Detail {
	var all []any
	for _, b := range before {
		all = append(all, b.Items...)
	}
	earlier := len(all)
	all = append(all, items...)
	var details []job.Detail
	if most, limited := s.MostItems(property); limited && len(all) > most {
		details = []job.Detail{{Path: job.Pointer(property), Message: tooManyInAll(len(items), earlier, most)}}
	}
	if !slices.ContainsFunc(s.listParts(property), func(list *jsonschema.Schema) bool { return list.UniqueItems }) {
		return details
	}
	if first, second, repeated := repetition(all); repeated {
		details = append(details, job.Detail{Path: fmt.Sprintf("%s/%d", job.Pointer(property), second-earlier), Message: fmt.Sprintf(
			"is the same as %s; every item of all batches must be different: leave it out", itemName(before, first))})
	}
	return details
}

func tooManyInAll(found, earlier, most int) string {
	advice := fmt.Sprintf("send %d at most, then the final batch", most-earlier)
	if most <= earlier {
		advice = "send the final batch, with none"
	}
	return fmt.Sprintf("found %s, after %d in earlier batches; all batches together may hold at most %d: %s",
		spelling.Count(found, "item"), earlier, most, advice)
}

// repetition returns the indexes of the first two equal items. Numbers are equal in any notation.
func repetition(all []any) (first, second int, repeated bool) {
	seen := make(map[string]int, len(all))
	for second, item := range all {
		text := string(job.MustJSON(job.Converted(item, func(_ string, v any) any {
			if number, ok := v.(json.Number); ok {
				return "\x00" + job.Decimal(number.String()) // unlike any text
			}
			return v
		})))
		if first, repeated = seen[text]; repeated {
			return first, second, true
		}
		seen[text] = second
	}
	return 0, 0, false
}

func itemName(before []Batch, i int) string {
	for _, b := range before {
		if i < len(b.Items) {
			return fmt.Sprintf("item %d of batch %d", i, b.Index)
		}
		i -= len(b.Items)
	}
	return fmt.Sprintf("item %d of this batch", i)
}

// MostItems returns the maximum number of items of a list property; false if the schema
// sets none.
func (s *Schema) MostItems(property string) (most int, limited bool) {
	for _, list := range s.listParts(property) {
		if list.MaxItems >= 0 && (!limited || list.MaxItems < most) {
			most, limited = list.MaxItems, true
		}
	}
	return most, limited
}

func (s *Schema) listParts(property string) []*jsonschema.Schema {
	var parts []*jsonschema.Schema
	for _, part := range conjuncts(s.compiled, nil) {
		parts = conjuncts(part.Properties[property], parts)
	}
	return parts
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
