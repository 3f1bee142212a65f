package cli

import (
	"strings"
	"testing"
)

// Characters that are split across writes are written whole.
func TestJSONIsWrittenInPieces(t *testing.T) {
	t.Parallel()
	const text, want = "{\"a\":\"\u202eé😀\U000e0001\x85\"}\n", "{\"a\":\"\\u202eé😀\\udb40\\udc01\\ufffd\"}\n"
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := &jsonWriter{Writer: &out}
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q", size, out.String())
		}
	}
}
