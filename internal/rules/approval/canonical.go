package approval

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gowebpki/jcs"

	"ringback/internal/job"
)

// digestOf identifies an input: the SHA-256 of its canonical JSON (RFC 8785), which fixes
// the order of keys and the spelling of strings and numbers.
//
// RFC 8785 represents numbers as 64-bit floats, so two account numbers that differ only in
// their last digit could become the same. A person who allows one of them has not allowed
// the other, so such numbers are appended after the JSON, each with its location and all of
// its digits.
func digestOf(input map[string]any) (string, error) {
	var long longNumbers
	canonical, err := jcs.Transform(job.MustJSON(long.takeOut("", input)))
	if err != nil {
		return "", err
	}
	return job.Digest(append(canonical, long...)), nil
}

// longNumbers contains the numbers that a 64-bit float cannot represent exactly. Each is a
// NUL, which canonical JSON never contains, followed by its JSON Pointer and its digits.
type longNumbers []byte

// takeOut returns a value without its long numbers, which are replaced by null.
func (l *longNumbers) takeOut(path string, v any) any {
	switch v := v.(type) {
	case json.Number:
		if isFloat(v) {
			return v
		}
		*l = fmt.Appendf(*l, "\x00%s=%s", path, job.Decimal(v.String()))
		return nil
	case map[string]any:
		rest := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			rest[name] = l.takeOut(path+job.Pointer(name), v[name])
		}
		return rest
	case []any:
		rest := make([]any, len(v))
		for i, item := range v {
			rest[i] = l.takeOut(path+"/"+strconv.Itoa(i), item)
		}
		return rest
	}
	return v
}

// isFloat reports whether a 64-bit float represents a number exactly, or the number is the
// shortest decimal form of a float, such as 0.1.
func isFloat(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && job.Decimal(strconv.FormatFloat(f, 'e', -1, 64)) == job.Decimal(n.String())
}
