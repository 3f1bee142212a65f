package kind_test

import (
	"strings"
	"testing"

	"ringback/internal/kind"
)

// wantProblems compares problems with the beginnings of theirs that are wanted.
func wantProblems(t *testing.T, got []kind.Problem, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want) || !strings.HasPrefix(got[i].Error(), want[i]):
			t.Errorf("problem %d: %s", i, got[i])
		}
	}
}

func TestCheckFindsMistakesOfSchemas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema string
		want   []string
	}{
		"misspelt": {
			"{\"type\": \"object\", \"properties\": {\n\"a\": {\"type\": \"array\",\n\"minItms\": 1, \"max_items\": 2, \"uniqueitems\": true}}}",
			[]string{
				`s/k.result.json:3: "max_items" is not a keyword of JSON Schema, so it would be ignored (Did you mean "maxItems"?)`,
				`s/k.result.json:3: "minItms" is not a keyword of JSON Schema, so it would be ignored (Did you mean "minItems"?)`,
				`s/k.result.json:3: "uniqueitems" is not a keyword of JSON Schema, so it would be ignored (Did you mean "uniqueItems"?)`,
			},
		},
		"words of one's own":  {`{"type": "object", "x-minItms": 1, "unit": "g", "example": {}, "id": "a", "properties": {"minItms": {}, "requird": {"default": {"tipe": 1}, "enum": [{"itms": 1}]}}}`, nil},
		"in lists and maps":   {`{"allOf": [{"requird": ["a"]}], "$defs": {"type": {"tpye": "string"}}}`, []string{`s/k.result.json:1: "requird" is not`, `s/k.result.json:1: "tpye" is not`}},
		"no object":           {"{\n\"type\": \"array\"}", []string{`s/k.result.json:2: only an object can be asked for or submitted`}},
		"no object, by form":  {`{"anyOf": [{"type": "string"}, {"const": 5}]}`, []string{`s/k.result.json:1: only an object`}},
		"an object, by form":  {`{"anyOf": [{"type": "string"}, {"properties": {}}]}`, nil},
		"bounds":              {`{"properties": {"n": {"minimum": 5, "maximum": 3}}}`, []string{`s/k.result.json:1: nothing satisfies this: minimum 5 and maximum 3`}},
		"bounds that touch":   {`{"properties": {"n": {"exclusiveMinimum": 3, "maximum": 3}, "m": {"minimum": 3, "maximum": 3}}}`, []string{`s/k.result.json:1: nothing satisfies this: exclusiveMinimum 3 and maximum 3`}},
		"types":               {`{"properties": {"n": {"allOf": [{"type": "string"}, {"type": ["integer", "null"]}]}}}`, []string{`s/k.result.json:1: nothing satisfies this: its types`}},
		"types by reference":  {`{"properties": {"n": {"type": "object", "$ref": "#/$defs/text"}}, "$defs": {"text": {"type": "string"}}}`, []string{`s/k.result.json:1: nothing satisfies this: its types`}},
		"enum of others":      {`{"properties": {"n": {"type": "integer", "enum": ["1", "2"]}}}`, []string{`s/k.result.json:1: nothing satisfies this: no value of enum`}},
		"required, closed":    {`{"required": ["a"], "properties": {"b": {}}, "additionalProperties": false}`, []string{`s/k.result.json:1: nothing satisfies this: "a" is required`}},
		"required, forbidden": {`{"required": ["a"], "properties": {"a": false}}`, []string{`s/k.result.json:1: nothing satisfies this: "a" is required`}},
		"required, elsewhere": {`{"required": ["a"], "patternProperties": {"^a": {}}, "additionalProperties": false, "properties": {"b": false}}`, nil},
		"refers to itself":    {`{"type": "object", "properties": {"next": {"$ref": "#"}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := kind.Check(source(map[string]string{"k.md": "Hi"}, map[string]string{"k.result.json": c.schema}))
			wantProblems(t, got, c.want...)
		})
	}
}

func TestCheckFindsMistakesOfActions(t *testing.T) {
	t.Parallel()
	prompt := `---
actions:
  - name: deploy
    title: Deploy {{input.name}}
    question: 'Deploy {{input.nmae}} {{name}}, {{input.name?'
    confirm: 'when: input.amuont > 100 && input.amount > 1'
    yes:
      label: 'Yes'
      also: ['Go', 'Deploy {{input.what}}']
    input:
      type: object
      properties: {name: {type: string, minLenght: 1}}
    command: [./deploy.sh, '{{input.nmae}}', '{{who}}']
    env: {NAME: '{{input.name}}'}
  - name: deploy
    command: [x]
  - name: second
    confirm: 'when: input.amuont > 100 && input.amount["x"].y > 1 && input?.count > 1'
    title: Deploy {{input.name}}
    question: 'Deploy {{input.nmae}} {{name}}, {{input.name?'
    yes:
      label: 'Yes'
      also: ['Go', 'Deploy {{input.what}}']
    input:
      type: object
      properties: {name: {type: string}, amount: {type: object, additionalProperties: true}}
    command: [./deploy.sh, '{{input.nmae}}', '{{who}}']
    env: {NAME: '{{input.name}}'}
---
About {{input.topic}} and {{input.topic
{{input.topics}} {{ REQUEST_ID }`
	got := kind.Check(source(map[string]string{"k.md": prompt}, map[string]string{"k.input.json": `{"properties": {"topic": {"type": "string"}}}`}))
	wantProblems(t, got,
		`p/k.md:10: actions: deploy: input: "minLenght" is not a keyword of JSON Schema`,
		`p/k.md:13: actions: deploy: command: ./deploy.sh is a relative path`,
		`p/k.md:15: actions: deploy stands here twice`,
		`p/k.md:18: actions: second: confirm: input.amuont: the input schema has no field amuont. It has: name, amount.`,
		`p/k.md:19: actions: second: title: nothing is filled in here`,
		`p/k.md:20: actions: second: {{input.name?: the variable is not closed (End it with }}`,
		`p/k.md:20: actions: second: {{input.nmae}}: the input schema has no field nmae (It has: name, amount.)`,
		`p/k.md:20: actions: second: {{name}}: is not a known variable (There are {{input.<field>}}.)`,
		`p/k.md:23: actions: second: {{input.what}}: the input schema has no field what`,
		`p/k.md:27: actions: second: command: ./deploy.sh is a relative path, but the kind lies in no directory`,
		`p/k.md:27: actions: second: {{input.nmae}}: the input schema has no field nmae`,
		`p/k.md:27: actions: second: {{who}}: is not a known variable`,
		`p/k.md:28: actions: second: NAME: nothing is filled in here`,
		`p/k.md:30: {{input.topic: the variable is not closed`,
		`p/k.md:31: {{REQUEST_ID }: the variable is not closed`,
		`p/k.md:31: {{input.topics}}: the input schema has no field topics (It has: topic.)`,
	)
}
