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

// digestOf identifies an input: the SHA-256 of its canonical JSON (RFC 8785), which
// has one order of keys and one way to write a letter or a number.
//
// RFC 8785 knows no numbers but those that a 64-bit float holds, and makes one of
// two account numbers that differ in their last digit. A person who allows one of
// them has not allowed the other, so such numbers go into the digest on their own,
// behind the JSON: each with its place and all of its digits.
func digestOf(input map[string]any) (string, error) {
	var long longNumbers
	text, err := json.Marshal(long.takeOut("", input))
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(text)
	if err != nil {
		return "", err
	}
	return job.Digest(append(canonical, long...)), nil
}

// longNumbers are the numbers that no 64-bit float holds exactly: of each a NUL,
// which canonical JSON has none of, its JSON Pointer and its digits.
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

// isFloat reports whether a 64-bit float holds a number exactly, or is what its digits
// are short for, as 0.1 is.
func isFloat(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && job.Decimal(strconv.FormatFloat(f, 'e', -1, 64)) == job.Decimal(n.String())
}
