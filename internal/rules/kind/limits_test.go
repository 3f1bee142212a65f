package kind_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job/limit"
	"ringback/internal/rules/kind"
	"ringback/test/must"
)

// loadKind loads a kind from its front matter.
func loadKind(t *testing.T, front string) (*kind.Kind, []kind.Problem) {
	t.Helper()
	registry, problems := kind.Load(source(map[string]string{"k.md": "---\n" + front + "\n---\nHello"}, nil))
	k, _ := registry.Get("k")
	return k, problems
}

func TestLimitsGoFromTheKindToItsParts(t *testing.T) {
	t.Parallel()
	k, problems := loadKind(t, `limits: {memory: 4GiB, processes: 512}
workspace: {}
verifiers:
- one: make
- {name: two, command: "true", limits: {processes: 64, file_size: 1 GiB}}
actions:
- {name: a, description: A., command: ["true"]}
- {name: b, description: B., command: ["true"], limits: {memory: 128MiB}}`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	whole := limit.Limits{Memory: 4 * limit.GiB, Processes: 512, FileSize: limit.Defaults.FileSize}
	two := limit.Limits{Memory: 4 * limit.GiB, Processes: 64, FileSize: limit.GiB}
	// Verifiers in a job's input get the limits of the kind, whatever the input contains.
	change := must.Get(k.Change(json.RawMessage(`{"verifiers": [{"name": "three", "command": "true", "limits": {"processes": 99999}, "Limits": {"Memory": 1}}]}`)))(t)
	got := []limit.Limits{k.Policy.Limits, k.Policy.Actions[0].Limits, k.Policy.Actions[1].Limits, change.Limits}
	for _, v := range change.Verifiers {
		got = append(got, v.Limits)
	}
	must.Equal(t, []limit.Limits{whole, whole, {Memory: 128 * limit.MiB, Processes: 512, FileSize: whole.FileSize}, whole, whole, two, whole}, got)
	if k, problems := loadKind(t, "description: D"); len(problems) > 0 || k.Policy.Limits != limit.Defaults || k.Policy.LimitsProcesses() {
		t.Errorf("got %+v, %v for nothing", k.Policy.Limits, problems)
	}
}

func TestWrongLimits(t *testing.T) {
	t.Parallel()
	for front, want := range map[string]string{
		"limits: {memory: 4}":                                        "found 4; expected a size such as 512MiB or 4GiB",
		"limits: {memory: 4GB}":                                      "found 4GB; expected a size",
		"limits: {memory: 1.5GiB}":                                   "found 1.5GiB; expected a size",
		"limits: {memory: -1GiB}":                                    "found -1GiB; expected a size",
		"limits: {memory: 0GiB}":                                     "found 0GiB; expected a size",
		"limits: {memory: 99999999TiB}":                              "found 99999999TiB; expected a size",
		"limits: {memory: GiB}":                                      "found GiB; expected a size",
		"limits: {memory: 1MiB}":                                     "memory: found 1 MiB; expected 64 MiB or more",
		"limits: {memory: [1GiB]}":                                   "limits: ",
		"limits: {file_size: 1KiB}":                                  "file_size: found 1 KiB; expected 1 MiB or more",
		"limits: {processes: 1.5}":                                   "found 1.5; expected a whole number",
		"limits: {processes: many}":                                  "found many; expected a whole number",
		"limits: {processes: 0}":                                     "found 0; expected a whole number",
		"limits: {processes: 9999999999999}":                         "expected a whole number",
		"limits: {processes: 3}":                                     "processes: found 3; expected 16 or more",
		"limits: {cpu: 2}":                                           `limits: "cpu" is not a known key`,
		"limits: 4GiB":                                               "limits: found ",
		"verifiers: [{name: n, command: c, limits: {memory: 4}}]":    "found 4; expected a size",
		"verifiers: [{name: n, command: c, limits: {processes: 3}}]": "verifiers: n: limits: processes: found 3",
		"verifiers: [{name: n, command: c, limits: {cpu: 3}}]":       `"cpu" is not a known key`,
		"verifiers: [{name: n, command: c, limit: {processes: 99}}]": `"limit" is not a known key`,
		"actions: [{name: a, description: A, command: [c], limits: {memory: 4}}]":       "found 4; expected a size",
		"actions: [{name: a, description: A, command: [c], limits: {file_size: 4KiB}}]": "actions: a: limits: file_size: found 4 KiB",
		"actions: [{name: a, description: A, command: [c], limits: {files: 4KiB}}]":     `"files" is not a known key`,
	} {
		_, problems := loadKind(t, front)
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) || problems[0].Line != 2 {
			t.Errorf("%s: got %v, want %q", front, problems, want)
		}
	}
}
