package kind_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/kind"
)

// wantProblems compares the beginnings of problems with the wanted ones.
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

func TestCheckFindsAnswersThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answers, want string }{
		"a yes that means no":                     {"yes: {label: 'No'}", `k.md:4: actions: a: yes: label: "No" means no`},
		"in another language":                     {"yes: {also: ['Ja', 'Nein, danke!']}", `k.md:4: actions: a: yes: also: 1: "Nein, danke!" means no`},
		"a yes that stops everything":             {"yes: {message: '算了'}", `k.md:4: actions: a: yes: message: "算了" means no`},
		"a yes that gives the job up":             {"yes: {label: 'Cancel the job'}", `k.md:4: actions: a: yes: label: "Cancel the job" means no`},
		"a yes that asks for a change":            {"yes: {label: 'steer: left'}", `k.md:4: actions: a: yes: label: "steer: left" asks for a change`},
		"a no that means yes":                     {"no: {label: 'Vas-y'}", `k.md:4: actions: a: no: label: "Vas-y" means yes`},
		"one text for both":                       {"no: {also: ['APPROVE!']}", `k.md:4: actions: a: no: also: 0: "APPROVE!" is a wording of both answers`},
		"one text for both, with a value":         {"yes: {message: 'Take {{input.n}}'}\n    no: {message: 'take {{input.n}}.'}", `k.md:5: actions: a: no: message: "take {{input.n}}." is a wording of both answers`},
		"answers that say what they mean":         {"yes: {label: 'Yes, stop it', also: [Sí]}\n    no: {label: 'No, go on', also: [Cancel]}", ""},
		"answers in words that nobody else knows": {"yes: {label: 'Send the rocket'}\n    no: {label: 'Keep the rocket'}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problemsOf(source(map[string]string{"k.md": "---\nactions:\n  - name: a\n    " + c.answers + "\n    command: ['true']\n    input: {type: object, properties: {n: {type: integer}}}\n---\nDo it."}, nil))
			var want []string
			if c.want != "" {
				want = []string{"p/" + c.want}
			}
			wantProblems(t, got, want...)
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
    no: {label: 'No', message: '{{input.name}}.'}
    input:
      type: object
      properties: {name: {type: string}, amount: {type: object, additionalProperties: true}}
    command: [./deploy.sh, '{{input.nmae}}', '{{who}}']
    env: {NAME: '{{input.name}}'}
---
About {{input.topic}} and {{input.topic
{{input.topics}} {{ REQUEST_ID }`
	got := problemsOf(source(map[string]string{"k.md": prompt}, map[string]string{"k.input.json": `{"properties": {"topic": {"type": "string"}}}`}))
	wantProblems(t, got,
		`p/k.md:10: actions: deploy: input: "minLenght" is not a keyword of JSON Schema`,
		`p/k.md:13: actions: deploy: command: ./deploy.sh is a relative path`,
		`p/k.md:15: actions: deploy occurs twice`,
		`p/k.md:18: actions: second: confirm: input.amuont: the input schema has no field amuont. It has: name, amount.`,
		`p/k.md:19: actions: second: title: nothing is filled in here`,
		`p/k.md:20: actions: second: {{input.name?: the variable is not closed (End it with }}`,
		`p/k.md:20: actions: second: {{input.nmae}}: the input schema has no field nmae (It has: name, amount.)`,
		`p/k.md:20: actions: second: {{name}}: is not a known variable (There are {{input.<field>}}.)`,
		`p/k.md:23: actions: second: yes: also: nothing is filled in here`,
		`p/k.md:24: actions: second: no: message: a reply that is only a value would count as this answer (Write words of your own around the variable.)`,
		`p/k.md:28: actions: second: command: ./deploy.sh is a relative path, but the kind is in no directory`,
		`p/k.md:28: actions: second: {{input.nmae}}: the input schema has no field nmae`,
		`p/k.md:28: actions: second: {{who}}: is not a known variable`,
		`p/k.md:29: actions: second: NAME: nothing is filled in here`,
		`p/k.md:31: {{input.topic: the variable is not closed`,
		`p/k.md:32: {{REQUEST_ID }: the variable is not closed`,
		`p/k.md:32: {{input.topics}}: the input schema has no field topics (It has: topic.)`,
	)
}
