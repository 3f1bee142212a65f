package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/kind"
)

// Whatever the wording of the template, the prompt that it wrote can be parsed.
func TestReaderFollowsTheTemplate(t *testing.T) {
	t.Parallel()
	registry, _ := kind.Load(kind.Builtin())
	k, _ := registry.Get("ship")
	p := Prompt{
		Kind: k, Input: json.RawMessage(`{"task":"ship it"}`), Callback: Callback{RequestID: "req_1", BaseURL: "http://h", Signature: "abc"},
		Change:   &job.Change{Repositories: []job.Repository{{Name: "shop"}}},
		Steering: &Steering{Prompt: "Shorter."}, Answers: []job.Checkpoint{{Message: "Deploy?", Reply: &job.Reply{Decision: job.Approve}}},
	}
	reworded := newPromptForm(strings.NewReplacer(
		"## ", "## About: ", "\n- ", "\n* ", "REQUEST_ID", "THE_REQUEST", "Input: ", "It takes: ", "What the reviewer wants:", "Wanted:",
		"JSON Schema", "schema", "so far, as data", "until now", "goes to", "is for",
	).Replace(promptText))
	for _, name := range []string{firstPrompt, laterPrompt} {
		var read [2]Parts
		var texts [2]string
		for i, f := range []promptForm{form(), reworded} {
			var err error
			if texts[i], err = f.write(name, promptData{Prompt: p, System: "Do it.", Why: "Go on."}); err != nil {
				t.Fatal(err)
			}
			if read[i], err = f.read(texts[i]); err != nil {
				t.Fatalf("%s: %v:\n%s", name, err, texts[i])
			}
		}
		if diff := cmp.Diff(read[0], read[1]); diff != "" || read[0].SteerRequest != "Shorter." {
			t.Errorf("%s: %s", name, diff)
		}
		if _, err := form().read(texts[1]); err == nil {
			t.Errorf("%s: other words than its own were read", name)
		}
	}
}
