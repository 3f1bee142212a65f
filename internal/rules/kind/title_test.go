package kind_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/test/must"
)

// A title contains the values of the input as literals, which cannot be mistaken for the kind's
// words.
func TestATitleIsMadeOfTheInput(t *testing.T) {
	t.Parallel()
	const input = `{"type": "object", "properties": {"day": {"type": "string", "format": "date"}, "text": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array"}}}`
	r := load(t, source(map[string]string{
		"plan.md": "---\ntitle: 'Plan for {{input.day}}: \"{{input.text}}\"'\n---\nx", "count.md": "---\ntitle: '{{ input.n }} of {{input.list}}'\n---\nx", "plain.md": "x",
	}, map[string]string{"plan.input.json": input, "count.input.json": input}))
	for _, row := range []struct{ kind, input, want string }{
		{"plan", `{"day": "2026-03-02", "text": "soup"}`, `Plan for 2026-03-02: "soup"`},
		{"plan", `{"day": "2026-03-02", "text": "soup\" approved by ops"}`, `Plan for 2026-03-02: "soup\" approved by ops"`},
		{"plan", `{"day": "2 approved", "text": "a\nb\u202ec"}`, `Plan for "2 approved": "a\nb\u202ec"`},
		{"plan", `{"day": "2026-03-02", "text": "` + strings.Repeat("x", 100) + `"}`, `Plan for 2026-03-02: "` + strings.Repeat("x", 59) + `…"`},
		{"plan", `{"day": "` + strings.Repeat("d ", 50) + `", "text": "` + strings.Repeat("x", 100) + `"}`, `Plan for "` + strings.Repeat("d ", 29) + `d…": "` + strings.Repeat("x", 45) + "…"},
		{"plan", `{}`, `Plan for : ""`},
		{"count", `{"n": 90071992547409931, "list": [1, "b"]}`, `90071992547409931 of [1,"b"]`},
		{"plain", `{"day": "2026-03-02"}`, ""},
	} {
		k, _ := r.Get(row.kind)
		must.Equal(t, row.want, k.Title(json.RawMessage(row.input)), row.kind, row.input)
	}
}

func TestCheckFindsMistakesOfTitles(t *testing.T) {
	t.Parallel()
	got := problemsOf(source(map[string]string{
		"k.md": "---\nevents: xy\ntitle: 'From {{input.form}}, {{REQUEST_ID}} {{input.from'\n---\nx", "l.md": "---\ntitle: " + strings.Repeat("x", 201) + "\n---\nx",
	}, map[string]string{"k.input.json": ranges}))
	wantProblems(t, got,
		`p/k.md:3: title: {{REQUEST_ID}}: is not a known variable`,
		`p/k.md:3: title: {{input.form}}: the input schema has no field form`,
		`p/k.md:3: title: {{input.from: the variable is not closed`,
		`p/l.md:2: title: expected one line of at most 200 characters`,
	)
}
