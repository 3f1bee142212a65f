package schema

import (
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// For an array this many times longer than allowed, and at least this long, only the length
// is reported: the schema library validates every item despite the limit, and spends
// seconds and a gigabyte on a megabyte of them.
const (
	farTooMany = 10
	manyItems  = 1000
)

// oversized returns an error for each of the first arrays that are far too long.
func (s *Schema) oversized(part *jsonschema.Schema, v any) (found []job.Detail) {
	if part == nil {
		return nil
	}
	found = s.oversized(part.Ref, v)
	switch v := v.(type) {
	case map[string]any:
		for name, property := range part.Properties {
			found = append(found, job.Below(name, s.oversized(property, v[name]))...)
		}
	case []any:
		if part.MaxItems >= 0 && len(v) > manyItems && len(v)/farTooMany > part.MaxItems {
			limits := bounds(s.root.At(pointerOf(part)), "minItems", "maxItems")
			return append(found, job.Detail{Message: "found " + countIn(v) + "; expected " + limits})
		}
		for i, item := range v {
			found = append(found, job.Below(strconv.Itoa(i), s.oversized(part.Items2020, item))...)
		}
	}
	return firstDetails(found)
}
