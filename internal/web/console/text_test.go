package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"regexp"
	"runtime"
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

// pieces are the building blocks of hostile Markdown.
var pieces = []string{
	"|", "-|", "|\n", "a|b", "\n|-|-|\n", "\\|", "`", "``", "```", "`a`", "*", "**", "_", "a_", "~", "~~", "*a ", "**a _b ", "[", "]", "![", "[a](", "[a](<b> \"", "](b)", "[a]", "[a][b]",
	"\n[a]: https://a.example/" + strings.Repeat("x", 200) + "\n", ">", "> ", "\n>", "- ", "\n- ", "\n  - ", "1. ", "\n1. ", "    ", "\t", "\n", "\n\n", "a", "é", "\u202e", " ", "&", "&amp;", "&#x", "\"",
	"<", "<a ", "<a x='", "x=\"", "<!--", "<?", "<![CDATA[", "</", "\n<div>\n", "http://", "http://a.example/", "www.a.b ", "a@b.c ", "a@", "(", ")", "\\", "# ", "\n===\n", "\n---\n", "~~~\n", ";", ":",
}

// hostile returns a text of repeated and nested pieces.
func hostile(r *rand.Rand, size int) string {
	var pattern strings.Builder
	for range 1 + r.IntN(4) {
		pattern.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], 1+r.IntN(1<<r.IntN(9))))
	}
	var text strings.Builder
	if r.IntN(3) == 0 {
		text.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], r.IntN(size/4)))
	}
	for text.Len() < size {
		text.WriteString(pattern.String())
		if r.IntN(8) == 0 {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	return text.String()[:size]
}

// mostAllocated is how much may be allocated per byte of text, in bytes.
var mostAllocated uint64 = 1000

// For any text, the HTML and the memory to render it are proportional to its length. Memory is a
// proxy for time: an endless search also allocates, and time depends on the machine.
func TestMarkdownIsBounded(t *testing.T) { //nolint:paralleltest // it measures what the whole process allocates
	const fixed = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		strings.Repeat("|", 20_000) + "\n" + strings.Repeat("-|", 10_000) + "\n" + strings.Repeat("|\n", 10_000), // once 3 GB
		strings.Repeat("|", 1200) + "\n" + strings.Repeat("-|", 1200) + "\n" + strings.Repeat("|\n", 200),
		"[a]: https://a.example/" + strings.Repeat("x", 30_000) + "\n\n" + strings.Repeat("[a]", 10_000),
		strings.Repeat(">", mostMarkdown), strings.Repeat("- ", mostMarkdown/2), strings.Repeat("- ", 1000) + strings.Repeat("\n", 60_000),
		strings.Repeat("*a **a ", mostMarkdown/7), strings.Repeat("[", mostMarkdown), strings.Repeat("<a x='", mostMarkdown/6),
		"| a |\n|---|\n" + strings.Repeat("| `\\|` |\n", mostMarkdown/10),
	}
	for range 300 {
		texts = append(texts, hostile(r, 1+r.IntN(mostMarkdown)))
	}
	for _, text := range texts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := markdown(text)
		runtime.ReadMemStats(&after)
		if most := mostExpansion*len(text) + leastHTML; len(got) > most {
			t.Errorf("%d bytes of HTML for %d: %.100q", len(got), len(text), text)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > mostAllocated*uint64(len(text))+fixed {
			t.Errorf("%d bytes were allocated for %d: %.100q", allocated, len(text), text)
		}
	}
}

// Ordinary Markdown is rendered; what exceeds a limit is shown as text.
func TestMarkdownWithinTheLimits(t *testing.T) {
	t.Parallel()
	table := "| name | amount | unit | note |\n|---|---|---|---|\n" + strings.Repeat("| flour | 200 | g | sifted |\n", 200)
	must.Equal(t, 800, strings.Count(string(markdown(table)), "<td>"), "a table of 200 rows has … cells")
	long := strings.Repeat("A **bold** word, `code` and https://a.example/.\n", 30)
	if got := string(markdown(long)); strings.Count(got, "<strong>") != 30 || strings.Count(got, "<a ") != 30 {
		t.Errorf("a long paragraph is shown as %.300s", got)
	}
	must.Equal(t, 4, strings.Count(string(markdown("- a\n  - b\n    - c\n      - d\n")), "<ul>"), "nested lists")
	for _, text := range []string{strings.Repeat("x", mostMarkdown+1), strings.Repeat("x ", 300_000)} {
		if got := string(markdown(text)); !strings.Contains(got, "Shown as text") || !strings.Contains(got, text) {
			t.Errorf("a text of %d bytes is shown as %.100s", len(text), got)
		}
	}
}

// JSON that formatting would enlarge too much is shown as it is, with every value in it.
func TestJSONIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000), strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000),
		"[" + strings.Repeat("0,", 400_000) + "0]", `{"suggestions":[{"recipe":{"name":"x"}}` + strings.Repeat(",{}", 300_000) + "]}",
		strings.Repeat("[", 40) + strings.Repeat("0,", 10_000) + "0" + strings.Repeat("]", 40), strings.Repeat("[", 100_000),
	} {
		if got := pretty(json.RawMessage(text)); len(got) > (1+mostIndented)*len(text) {
			t.Errorf("%.60q of %d bytes is shown in %d", text, len(text), len(got))
		}
		shown := newResult(job.Job{Result: json.RawMessage(text)})
		if count := countTree(shown.Tree); count > mostValues+1 || len(shown.Meals) > mostValues {
			t.Errorf("%.60q is unfolded into %d values and %d meals", text, count, len(shown.Meals))
		}
	}
	must.Equal(t, "{\n  \"a\": [\n    \"x\",\n    {\n      \"b\\\"{\": 1\n    }\n  ]\n}", pretty(json.RawMessage(`{"a":["x",{"b\"{":1}]}`)), "JSON is shown as")
}

func countTree(t *tree) int {
	n := 1
	for _, below := range t.Below {
		n += countTree(below)
	}
	return n
}

// The page of a link shows its target in ASCII, as browsers send it, and whether that is on the
// host of this server.
func TestWhereALinkLeads(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]leaveView{
		"https://a.example/x?y=1#z": {Before: "https://", Host: "a.example", Behind: "/x?y=1#z", Address: "https://a.example/x?y=1#z"},
		"http://A.example:8080":     {Before: "http://", Host: "a.example:8080", Address: "http://a.example:8080", Plain: true},
		"https://аррle.example/":    {Before: "https://", Host: "xn--le-5cd2c6a.example", Behind: "/", Address: "https://xn--le-5cd2c6a.example/", Written: "аррle.example"},
		"https://a.example@b.example/a.example": {
			Before: "https://a.example@", Host: "b.example", Behind: "/a.example", Address: "https://a.example@b.example/a.example", User: "a.example",
		},
		"https://a.example/\u202egnp.exe": {Before: "https://", Host: "a.example", Behind: "/%E2%80%AEgnp.exe", Address: "https://a.example/%E2%80%AEgnp.exe"},
	} {
		to := must.Get(url.Parse(address))(t)
		got, _ := newLeave(to, "localhost:3001")
		if want.Written != "" { // any ASCII form is accepted
			want.Host, want.Address = got.Host, want.Before+got.Host+want.Behind
			for _, r := range got.Host {
				if r > 127 {
					t.Errorf("%s: the host is %q", address, got.Host)
				}
			}
		}
		must.Equal(t, want, got, address)
	}
	for host, own := range map[string]string{
		"http://localhost:9999/": "localhost:3001", "http://LOCALHOST.:1/": "localhost", "http://127.0.0.1/": "localhost:3001", "http://[::1]:5/": "127.0.0.1:3001",
		"http://x.localhost/": "localhost:3001", "http://2130706433/": "localhost:3001", "http://0x7f.1/": "localhost:3001", "http://0.0.0.0:1/": "localhost:3001",
		"https://ringback.example:8443/": "ringback.example", "http://10.0.0.7:81/": "10.0.0.7:3001",
		"http://167772167/": "10.0.0.7:3001", "http://１２７.0.0.1/": "localhost:3001", "http://ⓛocalhost/": "localhost", "http://[::ffff:10.0.0.7]/": "10.0.0.7", "http://[0:0:0:0:0:0:0:1]/": "[::1]:3001",
	} {
		to := must.Get(url.Parse(host))(t)
		if got, ok := newLeave(to, own); !ok || !got.Own {
			t.Errorf("%s is not taken for one of %s", host, own)
		}
	}
	for _, address := range []string{"", "/jobs", "javascript:alert(1)", "ftp://a.example/", "http:///x", "http://:80", "https://a\u202eb.example", "//a.example"} {
		to, err := url.Parse(address)
		if err != nil {
			continue
		}
		if got, ok := newLeave(to, "localhost"); ok {
			t.Errorf("%q is shown as %+v", address, got)
		}
	}
}
