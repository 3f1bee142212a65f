package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// JSON allows numbers of any size, and a schema library that computes exactly spends
// seconds on 1e1000000 and fails on 1e9999999. So numbers that other programs could not
// read either are rejected before validation.
const (
	maxNumberLength = 64
	maxExponent     = 308 // of a 64-bit float
)

// unusableNumbers returns an error for each of the first numbers that are out of range. Their paths are
// made on the way back, because most values have no such number.
func unusableNumbers(v any) (found []job.Detail) {
	switch v := v.(type) {
	case json.Number:
		if !usable(v.String()) {
			found = append(found, job.Detail{Message: fmt.Sprintf(
				"found the number %s; expected a number of at most %d characters that fits a 64-bit float",
				shorten(v.String()), maxNumberLength)})
		}
	case map[string]any:
		for name, value := range v {
			found = append(found, job.Below(name, unusableNumbers(value))...)
		}
	case []any:
		for i, item := range v {
			found = append(found, job.Below(strconv.Itoa(i), unusableNumbers(item))...)
		}
	}
	return firstDetails(found)
}

func usable(number string) bool {
	if len(number) > maxNumberLength {
		return false
	}
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[i+1:])
	if err != nil || exponent < -maxExponent || exponent > maxExponent {
		return false
	}
	_, err = strconv.ParseFloat(number, 64)
	return err == nil
}
