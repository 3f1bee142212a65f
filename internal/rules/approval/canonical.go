package approval

import (
	"encoding/json"
	"fmt"
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
	rest, long := takeLongNumbers(input)
	canonical, err := jcs.Transform(job.MustJSON(rest))
	if err != nil {
		return "", err
	}
	return job.Digest(append(canonical, long...)), nil
}

// takeLongNumbers returns an input with null in place of the numbers that a 64-bit float cannot
// represent exactly, and these numbers: each is a NUL, which canonical JSON never contains, followed by
// its JSON Pointer and its digits.
func takeLongNumbers(input map[string]any) (rest any, long []byte) {
	rest = job.Converted(input, func(pointer string, v any) any {
		number, ok := v.(json.Number)
		if !ok || isFloat(number) {
			return v
		}
		long = fmt.Appendf(long, "\x00%s=%s", pointer, job.Decimal(number.String()))
		return nil
	})
	return rest, long
}

// isFloat reports whether a 64-bit float represents a number exactly, or the number is the
// shortest decimal form of a float, such as 0.1.
func isFloat(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && job.Decimal(strconv.FormatFloat(f, 'e', -1, 64)) == job.Decimal(n.String())
}
