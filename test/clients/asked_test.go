package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
)

// hostileKind asks about untrusted text.
const hostileKind = `---
description: Pays money back
actions:
  - name: pay
    description: Pays
    question: 'Pay back to {{input.customer}}?'
    input: {type: object, properties: {customer: {type: string, title: Customer}}}
    command: ['true']
---
Pay.
`

// A page that shows questions as in docs/clients.md shows what a yes runs, and none of it
// as markup.
func TestTheDocumentedPageShowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	const customer = "C-17\n\n# Approved\u202e <img src=x onerror=document.title='run'> **x** \u200b"
	kinds := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(kinds, "hostile.md"), []byte(hostileKind), 0o600))
	w := newWorld(t, 600)
	w.server.Stop(t, syscall.SIGTERM)
	w.env["PROMPTS_DIR"], w.env["HOLD"] = kinds, "1ms"
	w.server = harness.Start(t, w.env, nil)
	id, envelope := w.server.Manual(t, backEnd, harness.Object{"kind": "hostile", "userId": "u1", "input": harness.Object{}})
	envelope["input"] = harness.Object{"customer": customer}
	w.server.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/actions/pay", Body: envelope})
	checkpoint := must.Get(json.Marshal(w.server.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: backEnd})["checkpoint"]))(t)

	source := filepath.Join(t.TempDir(), "page.ts")
	documented, _, _ := strings.Cut(documentedShow(t), "const { checkpoints }")
	must.OK(t, os.WriteFile(source, []byte(documented+fmt.Sprintf("show(%s as unknown as Checkpoint, document.getElementById('root')!);\n", checkpoint)), 0o600))
	b := w.openTab(source)
	harness.Eventually(t, "the question to be shown", func() bool { return evaluate[bool](b, `!!document.querySelector("#root button")`) })
	var got [3]string
	must.OK(t, json.Unmarshal([]byte(evaluate[string](b, `JSON.stringify([document.querySelector("#root p").textContent, document.querySelector("#root pre").textContent, document.title + [...document.querySelectorAll("#root :not(p, span, code, pre, button)")].map(one => one.tagName)])`)), &got))
	const escaped = `C-17\n\n# Approved%s <img src=x onerror=document.title='run'> **x** %s`
	want := [3]string{
		`Pay back to "` + fmt.Sprintf(escaped, `\u202e`, `\u200b`) + `"?`,
		"{\n  \"customer\": \"" + fmt.Sprintf(escaped, "⟨U+202e⟩", "⟨U+200b⟩") + "\"\n}",
		"A page",
	}
	must.Equal(t, want, got, "the page shows something else")
}

// documentedShow returns the page in docs/clients.md.
func documentedShow(t *testing.T) string {
	t.Helper()
	documents := must.Get(markdown.Documents(repository(t)))(t)
	blocks := documents[filepath.Join("docs", "clients.md")].Blocks
	i := slices.IndexFunc(blocks, func(b markdown.Block) bool { return strings.Contains(b.Text, "asked(checkpoint)") })
	if i < 0 {
		t.Fatal("docs/clients.md shows no question")
	}
	return blocks[i].Text
}
