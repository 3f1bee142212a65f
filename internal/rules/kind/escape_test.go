package kind_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringback/internal/rules/kind"
	"ringback/test/must"
)

// A command and a schema are what a person wrote, in whatever way YAML spells a
// character.
func TestParsePromptReadsEveryEscape(t *testing.T) {
	t.Parallel()
	for escape, want := range map[string]string{
		`\x26`: "&", `\u0026`: "&", `\U00000026`: "&", `\u00e9`: "é", `\U0001F600`: "😀", `\n`: "\n", `\t`: "\t", `\"`: `"`, `\\`: `\`, `\/`: "/", `\ `: " ", `\e`: "\x1b", `\_`: "\u00a0",
		"\\\n     ": "", "&": "&", `'`: "'", "{": "{", "# ": "# ", ": ": ": ",
	} {
		for _, shape := range []string{
			"verifiers: [{name: a, command: \"x%sy\"}]", "verifiers:\n  - name: a\n    command: \"x%sy\"", "verifiers:\n  - a: \"x%sy\"", "verifiers: [{a: \"x%sy\"}]",
			"verifiers: [{name: b, command: &c \"x%sy\"}, {name: a, command: *c}]",
		} {
			policy, _, _, problems := kind.ParsePrompt([]byte("---\n" + fmt.Sprintf(shape, escape) + "\n---\nDo it.\n"))
			if len(problems) > 0 || len(policy.Verifiers) == 0 {
				t.Errorf("%s with %q: %v", shape, escape, problems)
				continue
			}
			must.Equal(t, "x"+want+"y", policy.Verifiers[len(policy.Verifiers)-1].Command, shape, "with", escape, "has become")
		}
		text := "---\nactions: [{name: act, command: [\"true\"], input: {type: object, description: \"x" + escape + "y\"}}]\n---\nDo it.\n"
		policy, _, _, problems := kind.ParsePrompt([]byte(text))
		if len(problems) > 0 || len(policy.Actions) != 1 {
			t.Errorf("%q in a schema: %v", escape, problems)
			continue
		}
		must.Equal[any](t, "x"+want+"y", decoded(t, policy.Actions[0].Input)["description"], escape, "in a schema has become")
	}
}

func decoded(t *testing.T, schema kind.SchemaSource) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(schema, &object); err != nil {
		t.Fatalf("%v in %s", err, strings.TrimSpace(string(schema)))
	}
	return object
}

// The schema of an action is the same in YAML as in JSON, in its order.
func TestActionSchemasAreTheirYAML(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{type: object, properties: {zeta: {type: string}, alpha: {type: [string, 'null'], default: null}, mid: {const: 1.50}}}": `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":["string","null"],"default":null},"mid":{"const":1.5}}}`,
		"{type: object, properties: {}, required: []}":                                                              `{"type":"object","properties":{},"required":[]}`,
		"{type: object, $defs: {n: &n {enum: [1, true, ~, 9007199254740993, 'no', {}, []]}}, properties: {a: *n}}":  `{"type":"object","$defs":{"n":{"enum":[1,true,null,9007199254740993,"no",{},[]]}},"properties":{"a":{"enum":[1,true,null,9007199254740993,"no",{},[]]}}}`,
		"\n    type: object\n    properties:\n      '1':\n        description: |\n          two\n          lines\n": `{"type":"object","properties":{"1":{"description":"two\nlines\n"}}}`,
	} {
		policy, _, _, problems := kind.ParsePrompt([]byte("---\nactions:\n- name: act\n  command: [\"true\"]\n  input: " + yaml + "\n---\nDo it.\n"))
		if len(problems) > 0 || len(policy.Actions) != 1 {
			t.Errorf("%s: %v", yaml, problems)
			continue
		}
		must.Equal(t, want, string(policy.Actions[0].Input), yaml, "has become")
	}
}
