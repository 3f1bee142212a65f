package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ringback/internal/text/excerpt"
	"ringback/test/must"
)

func TestExcerpts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"a short text is whole":            {excerpt.Head("12345", 5), "12345"},
		"the mark counts":                  {excerpt.Head("123456", 5), "12…"},
		"a letter is not split":            {excerpt.Head("aäöü", 5), "a…"},
		"the end of a text":                {excerpt.Tail("123456", 5), "…56"},
		"nor is one at the end":            {excerpt.Tail("äöüa", 5), "…a"},
		"a short end is whole":             {excerpt.Tail("äö", 4), "äö"},
		"letters, not bytes":               {excerpt.Letters("äöüäöü", 4), "äöü…"},
		"as many letters as there is room": {excerpt.Letters("äöüä", 4), "äöüä"},
		"no room for a letter":             {excerpt.Letters("äöü", 1), "…"},
		"no room at all":                   {excerpt.Letters("äöü", 0), "…"},
		"less than no room":                {excerpt.Letters("äöü", -3), "…"},
		"no room for the mark":             {excerpt.Head("12345", 1), "…"},
		"without a mark":                   {excerpt.First("aä", 2), "a"},
		"without a mark, from the end":     {excerpt.Last("äa", 2), "a"},
		"nothing":                          {excerpt.Head("", 0) + excerpt.Tail("", 0) + excerpt.Letters("", 0), ""},
		"no UTF-8":                         {excerpt.First(strings.Repeat("\x80", 9), 5), strings.Repeat("\x80", 5)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, c.got)
		})
	}
}

// FuzzExcerpts cuts texts anywhere: valid UTF-8 must stay valid, and fit.
func FuzzExcerpts(f *testing.F) {
	f.Add("aäöü🙂", 5)
	f.Add("\x80\x80\x80\x80\x80", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		for name, cut := range map[string]func(string, int) string{"First": excerpt.First, "Last": excerpt.Last, "Head": excerpt.Head, "Tail": excerpt.Tail} {
			got := cut(text, most)
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%s of %q at %d splits a letter: %q", name, text, most, got)
			}
			if most >= len(excerpt.Mark) && len(got) > most {
				t.Errorf("%s of %q at %d has %d bytes", name, text, most, len(got))
			}
		}
		if got := excerpt.Letters(text, most); most > 0 && utf8.RuneCountInString(got) > most {
			t.Errorf("Letters of %q at %d: %q", text, most, got)
		}
	})
}
