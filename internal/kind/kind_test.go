package kind_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/kind/mealsuggestions"
	"ringback/prompts"
	"ringback/schemas"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func schema(t testing.TB, text string) *kind.Schema {
	t.Helper()
	s, err := kind.NewSchema("test.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFaultsAreWordedSoThatTheyCanBeMended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, value, path, message string }{
		{"missing", `{"required":["a"],"properties":{"a":{"type":"integer"}}}`, `{}`, "/a", "is required but missing; expected an integer"},
		{"missing, described by reference", `{"required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"enum":["p","q"]}}}`, `{}`, "/a", `is required but missing; expected one of "p", "q"`},
		{"type", `{"type":"string"}`, `5`, "", "found the number 5; expected a string"},
		{"types", `{"type":["string","null"]}`, `[]`, "", "found an array of 0; expected a string or null"},
		{"enum", `{"enum":["a",1]}`, `"b"`, "", `found the string "b"; allowed: "a", 1`},
		{"const", `{"const":"x"}`, `true`, "", `found true; allowed: "x"`},
		{"minimum", `{"minimum":1}`, `0.5`, "", "found the number 0.5; expected at least 1"},
		{"maximum", `{"exclusiveMaximum":10}`, `10`, "", "found the number 10; expected less than 10"},
		{"minLength", `{"minLength":3}`, `"äö"`, "", "found 2 characters; expected at least 3"},
		{"maxItems", `{"maxItems":1}`, `[1,2]`, "", "found 2 items; expected at most 1"},
		{"pattern", `{"pattern":"^a+$"}`, `"b"`, "", `found the string "b"; expected text that matches ^a+$`},
		{"format", `{"format":"date"}`, `"1.2.2026"`, "", `found the string "1.2.2026"; expected a date, such as 2026-01-31`},
		{"unknown field", `{"properties":{"a":{},"b":{"readOnly":true}},"additionalProperties":false}`, `{"c":1}`, "/c", "is not a known field; allowed: a"},
		{"nested, escaped", `{"properties":{"a/b":{"items":{"type":"null"}}}}`, `{"a/b":[null,false]}`, "/a~1b/1", "found false; expected null"},
		{"the alternative that was meant", `{"anyOf":[{"type":"null"},{"type":"object","required":["x"]}]}`, `{}`, "/x", "is required but missing; expected a value"},
		{"no alternative", `{"anyOf":[{"type":"null"},{"type":"string"}]}`, `5`, "", "found the number 5; allowed: null, or a string"},
		{"more than one alternative", `{"oneOf":[{"minimum":0},{"maximum":9}]}`, `5`, "", "found the number 5, which fits more than one of the allowed forms; it must fit exactly one"},
		{"long values are cut", `{"type":"null"}`, `"` + strings.Repeat("ä", 90) + `"`, "", "found the string \"" + strings.Repeat("ä", 39) + "…; expected null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := schema(t, c.schema).Validate(decode(t, c.value))
			if diff := cmp.Diff([]job.Detail{{Path: c.path, Message: c.message}}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaMayNotReachOutside(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"http://example.com/s.json", "file:///etc/passwd", "other.json"} {
		if _, err := kind.NewSchema("test.json", []byte(`{"$ref":"`+ref+`"}`)); err == nil || !strings.Contains(err.Error(), "its own parts only") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestServerFieldsAreNotClaudes(t *testing.T) {
	t.Parallel()
	s := schema(t, `{"properties":{"list":{"items":{"$ref":"#/$defs/item"}}},"$defs":{"item":{"properties":{"name":{},"accepted":{"readOnly":true,"default":null}}}}}`)
	got := s.ApplyDefaults(decode(t, `{"list":[{"name":"x","accepted":true},{"name":"y"}]}`))
	want := decode(t, `{"list":[{"name":"x","accepted":null},{"name":"y","accepted":null}]}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(s.ForClaude()), "accepted") {
		t.Error("Claude is shown a field of the server")
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	policy, body, line, problems := kind.ParsePrompt([]byte("---\r\ndescription: x\r\ntimeout: 90s\r\nallowed_tools: [Read, WebSearch]\r\n---\r\n\r\nHello"))
	want := kind.Policy{Description: "x", Timeout: 90 * time.Second, AllowedTools: []string{"Read", "WebSearch"}}
	if diff := cmp.Diff(want, policy); diff != "" || body != "Hello" || line != 7 || problems != nil {
		t.Errorf("%s body %q at line %d, %v", diff, body, line, problems)
	}
	if _, body, line, problems = kind.ParsePrompt([]byte("Just a prompt")); body != "Just a prompt" || line != 1 || problems != nil {
		t.Errorf("body %q at line %d, %v", body, line, problems)
	}
}

func TestEveryProblemIsToldByFileAndLine(t *testing.T) {
	t.Parallel()
	_, problems := kind.Load(kind.Source{
		PromptsName: "p", SchemasName: "s",
		Prompts: fstest.MapFS{
			"a.md":      {Data: []byte("---\ndescription: x\nmax_trun: 5\n---\nHi")},
			"b.md":      {Data: []byte("---\nmax_attempts: 99\n---\n\nSay {{HMAC_SECRET}}\nand {{input.topic}} {{WHAT}}")},
			"c.md":      {Data: []byte("---\ndescription: x")},
			"Bad.md":    {Data: []byte("x")},
			"d.md":      {Data: []byte("x")},
			"e.md":      {Data: []byte("x")},
			"notes.txt": {Data: []byte("ignored")},
		},
		Schemas: fstest.MapFS{
			"b.input.json":  {Data: []byte(`{"properties":{"subject":{}},"additionalProperties":false}`)},
			"d.input.json":  {Data: []byte("{\n \"type\": \"object\",\n \"required\": [\"x\",]\n}")},
			"e.result.json": {Data: []byte("{\n \"properties\": {\n  \"x\": {\n   \"type\": \"strin\"\n}}}")},
			"f.input.json":  {Data: []byte(`{}`)},
		},
	})
	var got []string
	for _, p := range problems {
		got = append(got, p.Error())
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{
		"p/a.md:3: unknown field", "p/b.md:2: max_attempts: found 99", "p/b.md:5: {{HMAC_SECRET}}: the secret never leaves",
		"p/b.md:6: {{input.topic}}: the input schema has no field topic", "p/b.md:6: {{WHAT}} is not known",
		"p/c.md:1: the front matter is not closed", `p/Bad.md: "Bad" is no name`, "s/d.input.json:3: not valid JSON",
		"s/e.result.json:4: not a JSON Schema", "s/f.input.json: there is no prompt f.md",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no problem says %q; all:\n%s", want, text)
		}
	}
}

func TestLaterSourcesReplaceAndAdd(t *testing.T) {
	t.Parallel()
	registry, problems := kind.Load(
		kind.Source{Prompts: prompts.FS, Schemas: schemas.FS},
		kind.Source{Prompts: fstest.MapFS{"meal-suggestions.md": {Data: []byte("mine")}, "haiku.md": {Data: []byte("x")}}},
	)
	if err := kind.Join(problems); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"haiku", "meal-suggestions"}, registry.Names()); diff != "" {
		t.Error(diff)
	}
	k, _ := registry.Get("meal-suggestions")
	if k.Prompt != "mine" || k.Policy.Events != "meal-suggestions" || !k.Batchable() {
		t.Errorf("the kind is %+v", k)
	}
}

func TestSchemasMatchTheirGoTypes(t *testing.T) {
	t.Parallel()
	generated, err := mealsuggestions.Schemas()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range generated {
		got, err := os.ReadFile(filepath.Join("../../schemas", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from its Go types: run make generate", name)
		}
	}
}

func FuzzParsePrompt(f *testing.F) {
	f.Add([]byte("---\ndescription: x\n---\nHi"))
	f.Add([]byte("---\n---"))
	f.Add([]byte("---\n&a [*a, {b: !!int c}]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, line, problems := kind.ParsePrompt(text)
		if line < 1 {
			t.Errorf("the body begins at line %d", line)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Message == "" {
				t.Errorf("a problem nobody can find: %+v", p)
			}
		}
	})
}

func BenchmarkValidateResult(b *testing.B) {
	registry, problems := kind.Load(kind.Source{Prompts: prompts.FS, Schemas: schemas.FS})
	if problems != nil {
		b.Fatal(problems)
	}
	k, _ := registry.Get("meal-suggestions")
	recipe, err := os.ReadFile("../simulate/recipes.json")
	if err != nil {
		b.Fatal(err)
	}
	var suggestions []any
	for _, r := range decode(b, string(recipe)).([]any)[:7] {
		suggestions = append(suggestions, map[string]any{"date": "2026-03-02", "mealType": "dinner", "recipe": r})
	}
	result := map[string]any{"suggestions": suggestions, "reasoning": "x"}
	for b.Loop() {
		if details := k.Result.Validate(result); details != nil {
			b.Fatal(details)
		}
	}
}
