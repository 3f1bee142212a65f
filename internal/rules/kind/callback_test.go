package kind_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/kind"
)

func TestWhichKindsFitMCP(t *testing.T) {
	t.Parallel()
	for front, want := range map[string]bool{
		"description: Answers.":       true,
		"callback: mcp":               false,
		"allowed_tools: [Read]":       false,
		"tools: {deny: [WebFetch]}":   false,
		"workspace: {}\nreview: true": false,
		"actions: [{name: ask_user, webhook: 'https://h.example'}]": false,
		"actions: [{name: deploy, webhook: 'https://h.example'}]":   true,
	} {
		all, problems := kind.Load(source(map[string]string{"own.md": "---\n" + front + "\n---\nDo it."}, nil))
		if len(problems) > 0 {
			t.Errorf("%s: %v", front, problems)
			continue
		}
		if k, _ := all.Get("own"); k.FitsMCP() != want {
			t.Errorf("%s fits: %v, want %v", front, !want, want)
		}
	}
	all, _ := kind.Load(source(map[string]string{"own.md": "Sign with {{HMAC_SIGNATURE}}."}, nil))
	if k, _ := all.Get("own"); k.FitsMCP() {
		t.Error("a prompt that names the signature fits")
	}
}

// Anything that the model's API, or the CLI, would refuse in the middle of a job is a
// problem of the kind's files.
func TestWhatCannotBeATool(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 50)
	for name, c := range map[string]struct{ front, body, result, want string }{
		"fine":               {front: "callback: mcp\nactions: [{name: deploy, webhook: 'https://h.example', input: {type: object, anyOf: [{}]}}]", result: `{"properties":{"a":{"anyOf":[{}]}}}`},
		"another way":        {front: "callback: smoke", want: `callback: found "smoke"; allowed: curl, mcp`},
		"no way":             {front: "callback: [mcp]", want: "callback: found a list; expected text"},
		"anyOf":              {front: "callback: mcp", result: `{"type":"object","anyOf":[{"required":["a"]}]}`, want: "the result's schema has anyOf at its top"},
		"anyOf, by curl":     {result: `{"type":"object","anyOf":[{"required":["a"]}]}`},
		"a property's name":  {front: "callback: mcp", result: `{"type":"object","properties":{"größe":{}}}`, want: `has the property "größe"`},
		"headers":            {front: "callback: mcp", result: `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`, want: "x-mcp-header"},
		"an action's name":   {front: "callback: mcp\nactions: [{name: ask_user, webhook: 'https://h.example'}]", want: "this name is reserved for a tool of the server"},
		"the same, by curl":  {front: "actions: [{name: ask_user, webhook: 'https://h.example'}]"},
		"a long name":        {front: "callback: mcp\nactions: [{name: " + long + ", webhook: 'https://h.example'}]", want: "49 letters at most"},
		"an action's header": {front: "callback: mcp\nactions: [{name: deploy, webhook: 'https://h.example', input: {type: object, properties: {a: {type: string, x-mcp-header: x}}}}]", want: "x-mcp-header is not allowed"},
		"the signature":      {front: "callback: mcp", body: "Use {{HMAC_SIGNATURE}}.", want: "with callback: mcp, Claude is not told the signature"},
	} {
		schemas := map[string]string{}
		if c.result != "" {
			schemas["own.result.json"] = c.result
		}
		var told []string
		for _, p := range problemsOf(source(map[string]string{"own.md": "---\n" + c.front + "\n---\n" + c.body + "Do it."}, schemas)) {
			told = append(told, p.Error())
		}
		if all := strings.Join(told, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%s: told %q, want %q", name, all, c.want)
		}
	}
}
