package literal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"

	"ringback/internal/text/literal"
	"ringback/test/must"
)

func TestAValueIsWrittenSoThatItIsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`C-17" now`:          `"C-17\" now"`,
		"a\n# b":             `"a\n# b"`,
		"Söhne <GmbH> & 日本":  `"Söhne <GmbH> & 日本"`,
		"\u202etxt.exe":      `"\u202etxt.exe"`,
		"pay\u200bpal":       `"pay\u200bpal"`,
		"p\u0430ypal":        `"p\u0430ypal"`,        // a Cyrillic letter in a Latin word
		"\u0441\u043e\u0440": `"\u0441\u043e\u0440"`, // only look-alikes
		"Москва у реки":      `"Москва у реки"`,
		"Αθήνα και":          `"Αθήνα και"`,
		"a\u0336b\u0336":     `"a\u0336b\u0336"`, // struck out
		"\u0301a":            `"\u0301a"`,        // an accent that would be on our quote
		"e\u0301":            "\"e\u0301\"",
		"\x1b[2J\r":          `"\u001b[2J\r"`,
		"a\u00a0b\u3000":     `"a\u00a0b\u3000"`,
		"\U0001d41drm":       `"\ud835\udc1drm"`,
		"1\u2212\u2044":      `"1\u2212\u2044"`,
		"❤\ufe0f":            `"❤\ufe0f"`,
	} {
		must.Equal(t, want, literal.Quote(text), text, "is written")
	}
}

// The displayed value can be parsed, and equals the original.
func TestAValueCanBeReadBack(t *testing.T) {
	t.Parallel()
	same := func(text string) bool {
		text = strings.ToValidUTF8(text, "?")
		var back string
		return json.Unmarshal([]byte(literal.Quote(text)), &back) == nil && back == text
	}
	must.OK(t, quick.Check(same, nil))
}

func TestLinesAreAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	got := strings.Join(literal.Lines("grep -E \"\\d\" x\n\tok \r\n\u202e⟨U+0041⟩"), "|")
	must.Equal(t, "grep -E \"\\d\" x|\tok ⟨U+000D⟩|⟨U+202E⟩⟨U+27E8⟩U+0041⟨U+27E9⟩", got)
	must.Equal(t, "a⟨U+0020⟩⟨U+0020⟩", literal.Lines("a  ")[0], "spaces at the end of a line are")
}

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\r\nb\tc\u00a0d": "a\nb\tc\u00a0d", "a\rb": "a\ufffdb", "\x1b[1m": "\ufffd[1m", "a\u200db": "a\ufffdb",
		"👩\u200d🍳": "👩\u200d🍳", "می\u200cخواهم": "می\u200cخواهم", "a\u2028b\u2066": "a\ufffdb\ufffd", "\u3164": "\ufffd",
		"a" + strings.Repeat("\u0301", 6): "a" + strings.Repeat("\u0301", 4) + "\ufffd\ufffd",
	} {
		must.Equal(t, want, literal.Text(text), text, "is shown as")
	}
}
