package console

import (
	"encoding/json"
	"strings"
	"testing"
)

// What is shown of an input and sent back unchanged is the same input.
func TestAnUnchangedInputIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{}`, `{"a":1.0,"b":12345678901234567890}`, "{\"a\":\"\u202e\u0000x\"}", `{"a":"<b>\u2028 \\u202e \" \\"}`, "{\"a\":\"\U000e0041\"}", `{"a b":[ ],"c":{ }}`, "{\"\u200b\":1}",
	} {
		if !json.Valid([]byte(input)) {
			input = strings.ReplaceAll(input, "\x00", `\u0000`)
		}
		shown := strings.ReplaceAll(pretty(json.RawMessage(input)), "\n", "\r\n") // as browsers send it
		if visible(shown) != shown || !sameJSON([]byte(shown), []byte(input)) {
			t.Errorf("%q is shown as %q", input, shown)
		}
	}
	for _, pair := range [][2]string{{`{"a":1}`, `{"a":1.0}`}, {`{"a":1}`, `{"a":"1"}`}, {`{"a":1}`, `{"a":1,"b":null}`}, {`{`, `{`}, {`{"a":12345678901234567890}`, `{"a":12345678901234567891}`}} {
		if sameJSON([]byte(pair[0]), []byte(pair[1])) {
			t.Errorf("%s and %s are taken for the same", pair[0], pair[1])
		}
	}
}

func TestMarkdownOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"**bold** `code`":                          "<strong>bold</strong> <code>code</code>",
		"<script>alert(1)</script>":                "",
		"[x](javascript:alert(1))":                 "x",
		"[x](data:text/html,x)":                    "x",
		"![i](https://evil.example/i.png)":         "",
		`<a href="https://a.example" onclick="x">`: "",
		"https://a.example/?a=1&b=2":               `href="https://a.example/?a=1&amp;b=2"`,
		"| a | b |\n|---|---|\n| 1 | 2 |":          "<td>1</td>",
		strings.Repeat("[", 70_000):                `<pre class="plain">`,
		"<style>*{display:none}</style>x":          "",
	} {
		got := string(markdown(text))
		for _, bad := range []string{"<script", "javascript:", "<img", "onclick", "<style", "data:"} {
			if strings.Contains(got, bad) {
				t.Errorf("%.60q is shown as %.200q", text, got)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%.60q is shown as %.200q, want %q", text, got, want)
		}
	}
}

func TestWordsThatDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, left, right string }{
		{"return foo(bar)", "return foo(baz)", "bar", "baz"},
		{"x := 1", "x := 12", "1", "12"},
		{"a", "zzzz", "", ""},
		{"naïve text", "naïf text", "naïve", "naïf"},
		{"same and more", "same more", "and ", ""},
	} {
		left, right, ok := differing(c.a, c.b)
		if !ok {
			if c.left != "" || c.right != "" {
				t.Errorf("%q and %q are taken for altogether different", c.a, c.b)
			}
			continue
		}
		if c.a[left.from:left.to] != c.left || c.b[right.from:right.to] != c.right {
			t.Errorf("%q and %q differ in %q and %q", c.a, c.b, c.a[left.from:left.to], c.b[right.from:right.to])
		}
	}
}
