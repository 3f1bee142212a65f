package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
)

// The page of a job shows Claude's text as it is written, and can interrupt Claude.
func TestTextIsSeenAndWorkIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cli := filepath.Join(dir, "claude")
	harness.WriteProgram(t, cli, "#!/bin/bash\n"+harness.AnswersVersion+`
cat > .prompt.txt
event() { echo '{"type":"stream_event","event":'"$1"',"session_id":"s","parent_tool_use_id":null}'; }
echo '{"type":"system","subtype":"init"}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}'
event '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Which lake?"}}'
while [ ! -e `+dir+`/begin ]; do sleep 0.02; done
event '{"type":"content_block_stop","index":0}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
event '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look at"}}'
while [ ! -e `+dir+`/go ]; do sleep 0.02; done
event '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the lake!"}}'
while [ ! -e `+dir+`/end ]; do sleep 0.02; done
echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Let me look at the lake!"}]}}'
event '{"type":"content_block_stop","index":0}'
while :; do sleep 1000; done
`)
	s := start(t, harness.Vars{"CLAUDE_BIN": cli, "PROMPTS_DIR": kinds(t, map[string]string{"loud.md": "---\nthinking: true\n---\nLook."})})
	id := create(t, s, harness.Object{"kind": "loud", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	b := open(t, s, "/jobs/"+id)
	b.sees("2.1.0", "Claude is thinking", "Which lake?")
	touch(t, filepath.Join(dir, "begin"))
	b.sees("Claude is writing", "Let me look at")
	b.mustNot(`document.getElementById("writing").textContent.includes("Which lake?")`,
		"the answer is mixed with what Claude thought")
	touch(t, filepath.Join(dir, "go"))
	b.sees("Let me look at the lake!")
	b.do(chromedp.SendKeys("#say-text", "and the shore")) // triggers a fetch of the page
	b.press("Send")
	b.sees("and the shore", "Claude is writing", "Let me look at the lake!")
	touch(t, filepath.Join(dir, "end"))
	b.until("the text to be a message",
		`document.getElementById("writing").hidden && [...document.querySelectorAll("ol.messages .prose")].filter(m => m.textContent.includes("Let me look at the lake!")).length === 1`)
	b.press("Stop this")
	b.sees("Stop the turn")
	if i, _ := record(t, s, id)["interrupt"].(harness.Object); i["scope"] != "command" {
		t.Errorf("the record says %v", i)
	}
}

func touch(t *testing.T, file string) {
	t.Helper()
	must.OK(t, os.WriteFile(file, nil, 0o600))
}
