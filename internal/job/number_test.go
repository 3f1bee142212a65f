package job_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func TestDecimals(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "0e400": "0", "1": "1e0", "1.0": "1e0", "10": "1e1", "1E+1": "1e1", "100e-1": "1e1", "-1.50": "-15e-1",
		"9007199254740993": "9007199254740993e0", "1e400": "1e400", "1e99999999999999999999": "1e99999999999999999999",
	} {
		must.Equal(t, want, job.Decimal(number), number)
	}
}

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]int{"0": 0, "-0": 0, "-0.0e5": 0, "1": 1, "1.0": 1, "10e-1": 1, "1e3": 1000, "-7": -7, "9223372036854775807": 9223372036854775807} {
		if got, ok := job.Whole(json.Number(number)); got != want || !ok {
			t.Errorf("%s is %d %v, want %d", number, got, ok, want)
		}
	}
	for _, number := range []json.Number{"0.5", "1e-1", "1.000000000000000000001", "9223372036854775808", "1e19", "1e400", "1e99999999999999999999"} {
		if got, ok := job.Whole(number); ok {
			t.Errorf("%s is taken as %d", number, got)
		}
	}
}

func TestExactNumbers(t *testing.T) {
	t.Parallel()
	const text = `{"a":[9007199254740993,1.0,-0,1e400],"b":{"c":123456789012345678901234567890}}`
	var v any
	must.OK(t, job.UnmarshalExact([]byte(text), &v))
	if got, err := json.Marshal(v); string(got) != text || err != nil {
		t.Errorf("%s has become %s: %v", text, got, err)
	}
	for _, text := range []string{"", "1 2", "{} {", `{"a":1}]`} {
		if job.UnmarshalExact([]byte(text), &v) == nil {
			t.Errorf("%q was read", text)
		}
	}
}
