package kind_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/test/must"
)

const ranges = `{"type": "object", "required": ["from"], "properties": {"from": {"type": "string"}, "to": {"type": "string"}, "most": {"type": "integer"}}}`

const items = `{"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items": {"type": "string"}}}}`

func TestRulesBetweenFields(t *testing.T) {
	t.Parallel()
	registry, problems := kind.Load(source(map[string]string{"k.md": `---
check:
  - that: input.to == nil or input.to >= input.from
    message: is before from
  - that: input.most == nil or len(result.items) <= input.most
    message: has more items than the request allows
---
x`}, map[string]string{"k.input.json": ranges, "k.result.json": items}))
	wantProblems(t, problems)
	k, _ := registry.Get("k")
	for to, want := range map[string]string{"2": "", "1": "", "0": "/to is before from"} {
		must.Equal(t, want, inWords(k.CheckInput(map[string]any{"from": "1", "to": to})), "to", to)
	}
	for most, want := range map[string]string{`{"from": "1"}`: "", `{"from": "1", "most": 2}`: "", `{"from": "1", "most": 1}`: "/items has more items than the request allows"} {
		_, details, err := k.Accept(map[string]any{"items": []any{"a", "b"}}, func() (json.RawMessage, error) { return json.RawMessage(most), nil })
		if got := inWords(details); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", most, got, err, want)
		}
	}
}

func TestCheckFindsMistakesOfChecks(t *testing.T) {
	t.Parallel()
	got := problemsOf(source(map[string]string{"k.md": `---
check:
  - that: input.to >= input.from
    message: is before from
  - that: input.form == "x"
    message: is wrong
  - that: len(result.items)
    message: is wrong
  - that: input.from != ""
  - {that: 'output.x', message: x}
---
x`, "l.md": "---\ncheck:\n  - that: 'true'\n    mesage: x\n---\nx"}, map[string]string{"k.input.json": ranges, "k.result.json": items}))
	wantProblems(t, got,
		`p/k.md:3: check: number 1: that: it fails if optional fields are missing`,
		`p/k.md:5: check: number 2: that: input.form: `,
		`p/k.md:7: check: number 3: that: expected bool, but got int`,
		`p/k.md:9: check: number 4: each check needs that`,
		`p/k.md:10: check: number 5: that: unknown name output`,
		`p/l.md:4: check: "mesage" is not a known key`,
	)
}

// inWords returns what is wrong, one fault after the other.
func inWords(details []job.Detail) string {
	var all []string
	for _, d := range details {
		all = append(all, d.Path+" "+d.Message)
	}
	return strings.Join(all, "; ")
}
