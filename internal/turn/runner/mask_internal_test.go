package runner

import (
	"strings"
	"testing"

	"ringback/test/must"
)

func TestSignaturesAreBlankedOut(t *testing.T) {
	t.Parallel()
	signature := strings.Repeat("0123456789abcdef", 4)
	stars := strings.Repeat("*", 64)
	for text, want := range map[string]string{
		`{"hmac":"` + signature + `"}`: `{"hmac":"` + stars + `"}`,
		signature:                      stars,
		signature + "0":                signature + "0", // longer: not a signature
		signature[1:]:                  signature[1:],
		"plain text":                   "plain text",
	} {
		must.Equal(t, want, string(maskSignatures([]byte(text))), text, "became")
	}
	for text, want := range map[string]int{"": 0, "xyz": 0, "x" + signature[:10]: 10, "x" + signature: 64, "x" + signature + "0": 0} {
		must.Equal(t, want, openDigits([]byte(text)), text, "ends with … digits")
	}
}
