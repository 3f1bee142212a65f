package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"

	"ringback/internal/job"
	"ringback/internal/text/literal"
	"ringback/test/must"
)

// An input that is shown and sent back unchanged is the same input.
func TestAnUnchangedInputIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{}`, `{"a":1.0,"b":12345678901234567890}`, "{\"a\":\"\u202e\u0000x\"}", `{"a":"<b>\u2028 \\u202e \" \\"}`, "{\"a\":\"\U000e0041\"}", `{"a b":[ ],"c":{ }}`, "{\"\u200b\":1}",
	} {
		if !json.Valid([]byte(input)) {
			input = strings.ReplaceAll(input, "\x00", `\u0000`)
		}
		laid := pretty(json.RawMessage(input))
		shown := strings.ReplaceAll(laid, "\n", "\r\n") // as browsers send it
		if literal.Text(laid) != laid || !sameJSON([]byte(shown), []byte(input)) {
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
		"<script>alert(1)</script>":                "&lt;script&gt;alert(1)&lt;/script&gt;",
		"Replace <b>x</b> by <i>y</i>":             "Replace &lt;b&gt;x&lt;/b&gt; by &lt;i&gt;y&lt;/i&gt;",
		"a\n\n<!--\nhidden\n-->\n\nb":              "&lt;!--\nhidden\n--&gt;",
		"[x](javascript:alert(1))":                 "<p>x (javascript:alert(1))</p>",
		"[x](data:text/html,x)":                    "<p>x (data:text/html,x)</p>",
		"[https://a.example](https://b.example)":   "</a> (https://b.example)",
		"![i](https://evil.example/i.png)":         "<p>[image: i (https://evil.example/i.png)]</p>",
		`<a href="https://a.example" onclick="x">`: "&lt;a href=",
		"https://a.example/?a=1&b=2":               `href="/leave?to=https%3A%2F%2Fa.example%2F%3Fa%3D1%26b%3D2" rel="nofollow noreferrer noopener" target="_blank"`,
		"| a | b |\n|---|---|\n| 1 | 2 |":          "<td>1</td>",
		strings.Repeat("[", 70_000):                `<pre class="plain" tabindex="0">`,
		"<style>*{display:none}</style>x":          "&lt;style&gt;",
		"```\nx\n```\n\n| a |\n|---|\n| <pre> |":   "<pre tabindex=\"0\"><code>x\n</code></pre>\n<table tabindex=\"0\">",
	} {
		got := string(markdown(text))
		for _, bad := range []string{"<script", `href="javascript:`, "<img", "<a onclick", "<style", `href="data:`, "src="} {
			must.NotContain(t, got, bad, text, "is shown as")
		}
		must.Contain(t, got, want, text, "is shown as")
	}
}

// sanitized is the policy of a sanitizer for a page's HTML.
var sanitized = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "del",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("tabindex").Matching(bluemonday.Integer).OnElements("pre", "table")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})

// tokens returns the tags and texts of HTML, independent of their escaping.
func tokens(t *testing.T, text string) []string {
	t.Helper()
	var found []string
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		if z.Next() == html.ErrorToken {
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			return found
		}
		found = append(found, z.Token().String())
	}
}

// withoutLeave replaces links to the page about a link by links to the target.
func withoutLeave(t *testing.T, text string) string {
	t.Helper()
	return regexp.MustCompile(`href="/leave\?to=([^"]*)"`).ReplaceAllStringFunc(text, func(attribute string) string {
		address := must.Get(url.QueryUnescape(strings.TrimSuffix(strings.TrimPrefix(attribute, `href="/leave?to=`), `"`)))(t)
		return `href="` + html.EscapeString(address) + `"`
	})
}

// A sanitizer finds nothing to remove or to add. It is used only in tests: it would make each start
// of the binary a millisecond slower.
func FuzzMarkdownIsSanitized(f *testing.F) {
	for _, text := range []string{
		"**b** _e_ `c` ~~d~~ <b>x</b> <!-- c --> &amp; &lt;script&gt; \\<x>",
		"# h\n\n> q\n\n3. a\n4. b\n\n- c\n\n---\na  \nb\n\n    <code>\n\n```js\" onclick=\"x\n</code><script>\n```",
		"| a | b |\n|:--|--:|\n| <i>1</i> | [x](//evil.example) |",
		"[a](https://a.example \"t\") [b](javascript:alert(1)) [c](javascript&#58;alert(1)) [d](JaVaScRiPt:x) [e](/relative) [f](#a) [g](mailto:a@b.example)",
		"[a](<https://a.example/ x\"onclick=y>) [b](&#104;ttps://a.example/?a=1&b=2&quot;) [c](https://\u202e.example) [d](http:x) [e](data:text/html,x) [f](\tjavascript:x)",
		"https://a.example/?a=1&b=2 www.a.example ftp://a.example a@b.example <https://a.example/\"> <javascript:x> <mailto:a@b.example>",
		"![i](https://evil.example/i.png) [![i](x)](https://a.example) <img src=x onerror=y>\n\n<div>\n\n<script>x</script>\n\n<style>x</style>",
		"[r]\n\n[r]: javascript:x 'a'\n\n[s]: <https://a.example/%22%3E>\n\n[s] \x00 \xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := string(markdown(text))
		if strings.Contains(got, `<pre class="plain" tabindex="0">`) {
			return
		}
		got = withoutLeave(t, got)
		must.Equal(t, tokens(t, sanitized().Sanitize(got)), tokens(t, got), text, "is shown as", got, "-sanitized +shown")
	})
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

// What git and Ringback note about a line is shown, and is no line of the file. The pieces of a
// long line have one number.
func TestNotesInAPatch(t *testing.T) {
	t.Parallel()
	diff := "@@ -1,2 +1,3 @@\n-a\r\n\\ No newline at end of file\n+a\n+" + job.LineContinues + "\n" + job.LineContinues + "\n+b\rc\n \\ No newline\n"
	var got []string
	for _, r := range newPatch("r", job.FileDiff{Diff: diff}, "f0").Rows {
		got = append(got, fmt.Sprint(r.Kind, " ", r.Old, " ", r.New, " ", r.Before, r.Changed, r.After))
	}
	want := []string{
		"hunk 0 0 @@ -1,2 +1,3 @@", "del 1 0 a⟨U+000D⟩", "note 0 0 No newline at end of file", "add 0 1 a",
		`add 0 2 \ The line continues`, "note 0 0 The line continues", "add 0 2 b⟨U+000D⟩c", `same 2 3 \ No newline`,
	}
	must.Equal(t, want, got)
}

// A change of which the store has only the beginnings of long lines is not shown whole.
func TestCutLinesAreNotTheWholeChange(t *testing.T) {
	t.Parallel()
	file := job.FileDiff{Path: "a", Diff: "@@ -0,0 +1 @@\n+xx…\n", Additions: 1, Digest: "d"}
	for _, d := range []job.DiffOutput{{Truncated: true}, {Truncated: false}} {
		d.Files = []job.FileDiff{file}
		var r reviewView
		r.add([]job.DiffOutput{d})
		r.count([]job.DiffOutput{d}, job.Viewed{})
		if r.Paged != d.Truncated || r.Patches[0].Cut != d.Truncated {
			t.Errorf("truncated %v: paged %v, cut %v", d.Truncated, r.Paged, r.Patches[0].Cut)
		}
	}
}

func TestGists(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"## Done\n\nText.":                      "Done",
		"**Two** dishes `x_y`. And more.":       "Two dishes x_y.",
		"- one\n- two":                          "one two",
		"See [the docs](https://a.example) now": "See the docs now",
		"<https://a.example> <b>x</b>":          "https://a.example <b>x</b>",
		"":                                      "",
	} {
		must.Equal(t, want, gist(source), source)
	}
}

// No name of a file hides what comes after it.
func TestTheGistOfAReview(t *testing.T) {
	t.Parallel()
	const before, after = "Claude completed req_1.\n\nDiff summary:\n\n**FAILED test** (exit code: 1)\n\n**svc**: 1 file\n  - `", "` (modified, +1/-0)\n  - .env (added, +1/-0) CAUTION: a secret\n\n**web**: 1 file\n  - b.go (added, +1/-0)\n\nClaude's summary:\n```\n  Fixed **it**. More.\n```\n\nReply: `approve`, `reject`, or `steer`"
	for _, name := range []string{
		"a.go", "a Claude's summary: b", "a Reply: approve, reject", "Diff summary:", "a Updated changes: b", "Reply: approve, reject", "Claude's summary:",
	} {
		said, found := reviewGist(before + name + after)
		must.Equal(t, "Fixed it.", said, name)
		must.Equal(t, "FAILED test (exit code: 1) svc: 1 file "+name+" (modified, +1/-0) .env (added, +1/-0) CAUTION: a secret web: 1 file b.go (added, +1/-0)", found, name)
	}
}

// Nothing that a system outside Ringback writes into a job's chat is shown as Claude's.
func TestAMessageShowsItsAuthor(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]job.MessageBody{
		"Claude":                 {Sender: job.FromAssistant, RequestID: "req_1"},
		"User u1":                {Sender: job.FromUser, UserID: "u1"},
		"From outside Ringback":  {Sender: job.FromAssistant, MessageType: job.CheckpointMessage, Content: "Which?"},
		"Ringback":               {Sender: job.FromAssistant, MessageType: job.WhichMessage},
		"The outcome of the job": {Sender: job.FromAssistant, MessageType: job.NoticeMessage, RequestID: "req_1"},
	} {
		must.Equal(t, want, newMessage(job.Message{MessageBody: m}).By)
	}
	must.Equal(t, "From outside Ringback", newMessage(job.Message{MessageBody: job.Text(job.FromAssistant, "Done.")}).By)
}

// What a person wrote, and what the browser sends with it, comes back as it was written. Everywhere else,
// characters that cannot be seen are replaced.
func TestOnlyWhatIsSentBackKeepsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	const hidden, shown = "\u200fa\u00adb\u202e\ufeff", "\ufffda\ufffdb\ufffd\ufffd"
	for part, want := range map[string]string{
		"<p>" + hidden + "</p>":                                                  "<p>" + shown + "</p>",
		`<textarea name="text" rows="2">` + hidden + "\r\nx":                     `<textarea name="text" rows="2">` + hidden + "\nx",
		`<input name="v/` + hidden + `" value="` + hidden + `">` + hidden:        `<input name="v/` + hidden + `" value="` + hidden + `">` + shown,
		`<button title="` + hidden + `" value="` + hidden + `">` + hidden:        `<button title="` + shown + `" value="` + hidden + `">` + shown,
		`<body data-user="` + hidden + `"><p aria-label="` + hidden + `">`:       `<body data-user="` + hidden + `"><p aria-label="` + shown + `">`,
		"<textarea></textarea>" + hidden + "<textarea>" + hidden + "</textarea>": "<textarea></textarea>" + shown + "<textarea>" + hidden + "</textarea>",
		"<p>plain</p>": "<p>plain</p>",
	} {
		must.Equal(t, want, visible(part), part)
	}
	s := newStage(t)
	s.answers = map[string]any{"/api/jobs/x": job.Job{ID: "x", Kind: "k", Title: hidden, SessionID: "s", State: job.Running}}
	_, page := s.post(job.Checkpoint{}, "/jobs/x/say", "text="+url.QueryEscape(hidden+"\r\nb"))
	must.Contain(t, page, ">"+hidden+"\nb</textarea>")
	must.Equal(t, 1, strings.Count(page, hidden), "the characters are on the page")
}
