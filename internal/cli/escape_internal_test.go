package cli

import (
	"strings"
	"testing"
)

func TestJSONShowsHiddenCharacters(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if _, err := (jsonWriter{&out}).Write([]byte("{\"a\":\"\u202eé😀\U000e0001\x85\"}\n")); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":\"\\u202eé😀\\udb40\\udc01\ufffd\"}\n"; out.String() != want {
		t.Errorf("it is written as %q", out.String())
	}
}
