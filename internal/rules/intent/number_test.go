package intent_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
)

// A number names the option that is written so, and no other that a float could not distinguish from it.
func TestNumbersNameTheirOption(t *testing.T) {
	t.Parallel()
	options := []any{json.Number("9007199254740992"), json.Number("1e2"), json.Number("2.50"), "007"}
	for text, want := range map[string]string{
		"9007199254740992": "9007199254740992", "9007199254740993": "", "9007199254740991": "", "1e2": "1e2", "100": "", "use 2.50": "2.50",
		"2.5000000000000000001": "", "007": "007", "7": "", "70": "", "-100": "", "1": "", "2": "",
	} {
		r := intent.Read(intent.Context{Type: job.ErrorRecovery, Fields: oneOf("n", options...)}, text)
		got, chosen := r.Values["n"]
		if chosen != (want != "") || chosen && fmt.Sprint(got) != want {
			t.Errorf("%s was read as %s %v, want %q", text, r.Outcome, r.Values, want)
		}
	}
}
