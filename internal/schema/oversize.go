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

// oversized returns an error for each array that is far too long, at most MaxDetails of
// them.
func (s *Schema) oversized(part *jsonschema.Schema, path string, v any, found []job.Detail) []job.Detail {
	if part == nil || len(found) >= MaxDetails {
		return found
	}
	found = s.oversized(part.Ref, path, v, found)
	switch v := v.(type) {
	case map[string]any:
		for name, property := range part.Properties {
			if value, ok := v[name]; ok {
				found = s.oversized(property, path+job.Pointer(name), value, found)
			}
		}
	case []any:
		if part.MaxItems >= 0 && len(v) > manyItems && len(v)/farTooMany > part.MaxItems {
			return append(found, s.tooMany(part, path, v))
		}
		for i, item := range v {
			found = s.oversized(part.Items2020, path+"/"+strconv.Itoa(i), item, found)
		}
	}
	return found
}

func (s *Schema) tooMany(part *jsonschema.Schema, path string, list []any) job.Detail {
	limits := bounds(s.root.at(pointerOf(part)), "minItems", "maxItems")
	return job.Detail{Path: path, Message: "found " + countIn(list) + "; expected " + limits}
}
