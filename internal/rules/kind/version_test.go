package kind_test

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/test/must"
)

// loadOwn loads a kind with the name own.
func loadOwn(t *testing.T, prompts, schemas map[string]string, dir string) *kind.Kind {
	t.Helper()
	s := source(prompts, schemas)
	s.Dir = dir
	all, problems := kind.Load(s)
	wantProblems(t, problems)
	k, _ := all.Get("own")
	return k
}

func TestTheVersionIsWhatTheFilesHold(t *testing.T) {
	t.Parallel()
	const prompt = "---\nmax_turns: 7\nactions: [{name: ship, command: [./ship.sh]}]\n---\nDo it."
	schemas := map[string]string{"own.result.json": `{"type": "object", "required": ["a"]}`}
	k := loadOwn(t, map[string]string{"own.md": prompt, "other.md": "Another."}, schemas, "/here")
	same := loadOwn(t, map[string]string{"own.md": prompt}, schemas, "/there")
	must.Equal(t, k.Version, same.Version, "the same files in another directory, beside others")
	for what, changed := range map[string]*kind.Kind{
		"a policy":      loadOwn(t, map[string]string{"own.md": strings.Replace(prompt, "7", "8", 1)}, schemas, "/here"),
		"a prompt":      loadOwn(t, map[string]string{"own.md": prompt + "!"}, schemas, "/here"),
		"a schema":      loadOwn(t, map[string]string{"own.md": prompt}, map[string]string{"own.result.json": `{"type": "object"}`}, "/here"),
		"a schema more": loadOwn(t, map[string]string{"own.md": prompt}, map[string]string{"own.result.json": schemas["own.result.json"], "own.input.json": `{"type": "object"}`}, "/here"),
	} {
		if changed.Version == k.Version {
			t.Errorf("with %s changed, the version stays", what)
		}
	}
	again := must.Get(kind.Restore(k.Version, k.Definition, "/there"))(t)
	_, details, err := again.Accept(map[string]any{}, nil)
	if again.Version != k.Version || again.Dir != "/there" || again.Prompt != k.Prompt || again.Policy.MaxTurns != 7 || len(details) == 0 || err != nil {
		t.Errorf("restored, it is %+v; a result without a has the faults %v, %v", again, details, err)
	}
	if _, err := kind.Restore(k.Version, append(k.Definition, ' '), "/there"); err == nil {
		t.Error("what was changed in the store is restored")
	}
}

// Jobs have begun with a kind that a later version of Ringback would refuse. They continue, unless it
// is unknown what the kind says.
func TestJobsContinueWithAKindThatWasValidOnce(t *testing.T) {
	t.Parallel()
	const name, action = "own", "actions:\n- name: a\n  command: [echo]\n"
	for front, refused := range map[string]string{
		"tools: {ask: [Bash], deny: [Wrte]}":                   "",
		"tools: {ask: [Bash], deny: ['Read(../secrets)']}":     "",
		"tools: {deny: ['Bash(curl *)']}":                      "",
		"allowed_tools: [bash]":                                "",
		"allowed_tools: ['Read(../a)']":                        "",
		"model: -x":                                            "",
		"title: 'About {{input.what'":                          "",
		"events: 'A b'":                                        "",
		action + "  yes: {label: 'No'}":                        "",
		action + "  env: {'A B': x}":                           "",
		action + "  question: 'Ship {{input.what}}?'":          "",
		action + "  confirm: 'when: input.a >'":                "",
		action + "  input: {type: object, propertis: {}}":      "",
		"check: [{that: input.a > 1, message: x}]":             "",
		"tools: {deny: ['Bash rm']}":                           "expected a rule such as",
		"tools: {Ask: [Bash]}":                                 "is not a known key",
		"toolz: {ask: [Bash]}":                                 "is not a known key",
		"tools: {ask: [Bash]}\ntools: {}":                      "already defined",
		"check: [{that: input.a >, message: x}]":               "unexpected token EOF",
		action + "  input: {type: no}":                         "input",
		action + "- name: a\n  webhook: https://shop.example/": "occurs twice",
		"actions: [null]":                                      "is empty",
	} {
		text := job.MustJSON(map[string]any{
			"name": name, "inDir": true, "prompt": "---\n" + front + "\n---\nDo it.",
			"input":  `{"type": "object", "properties": {"b": {"type": "string"}}}`,
			"result": `{"type": "object", "properties": {"c": {"$ref": "#/properties/d"}, "d": {"type": "string", "readOnly": true}}}`,
		})
		k, err := kind.Restore(job.Digest(text), text, "/here")
		switch {
		case refused != "":
			must.Fail(t, err, refused)
		case err != nil || k.Input == nil || k.Result == nil:
			t.Errorf("%s: it is refused: %v", front, err)
		default:
			for _, a := range k.Policy.Actions {
				must.Equal(t, true, a.NeedsApproval(nil), front, "the action needs a yes")
			}
		}
	}
}
