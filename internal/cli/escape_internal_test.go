package cli

import (
	"strings"
	"testing"

	"ringback/test/must"
)

func TestJSONShowsHiddenCharacters(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	must.Get((jsonWriter{&out}).Write([]byte("{\"a\":\"\u202eé😀\U000e0001\x85\"}\n")))(t)
	must.Equal(t, "{\"a\":\"\\u202eé😀\\udb40\\udc01\ufffd\"}\n", out.String())
}
