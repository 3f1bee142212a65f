package kind_test

import (
	"strings"
	"testing"

	"ringback/internal/kind"
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
