package console

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

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
