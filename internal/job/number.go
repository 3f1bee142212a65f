package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// MustJSON returns the JSON of a value that was decoded from JSON, or is of one of Ringback's own types.
// It panics for any other value.
func MustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("job: " + err.Error())
	}
	return text
}

// Members yields the members of a JSON object in their order; none for another value.
func Members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(bytes.NewReader(object))
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return
		}
		for dec.More() {
			name, err := dec.Token()
			var value json.RawMessage
			if err != nil || dec.Decode(&value) != nil || !yield(fmt.Sprint(name), value) {
				return
			}
		}
	}
}

// Member returns a member of a JSON object; nil if it has none of that name.
func Member(object json.RawMessage, name string) json.RawMessage {
	for member, value := range Members(object) {
		if member == name {
			return value
		}
	}
	return nil
}

// Decimal returns the canonical form of a JSON number, with all of its digits: "-123e4". A number
// with an exponent out of range is returned unchanged.
func Decimal(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" {
		return number
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	digits, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(digits+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	e += len(digits) - len(significant) - len(fraction)
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.Itoa(e)
}

// Whole returns the value of a JSON number that is an integer, in any notation: 1, 1.0 and 10e-1
// are the same. It returns false for a fraction, and for a number that does not fit an int.
func Whole(number json.Number) (int, bool) {
	digits, exponent, _ := strings.Cut(Decimal(number.String()), "e")
	zeros := 0
	if exponent != "" {
		var err error
		if zeros, err = strconv.Atoi(exponent); err != nil || zeros < 0 || zeros > 18 {
			return 0, false
		}
	}
	n, err := strconv.Atoi(digits + strings.Repeat("0", zeros))
	return n, err == nil
}
