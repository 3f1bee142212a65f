package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// writer is a CLI that writes "Hello, wor" and, when it is released, "ld!", also as a
// message; then it waits for a third release.
func writer(t *testing.T, dir string) string {
	t.Helper()
	return rig.Script(t, `
cat > .prompt.txt
wait_for() { while [ ! -e `+dir+`/$1 ]; do sleep 0.02; done; }
event() { echo '{"type":"stream_event","event":'"$1"',"session_id":"s","parent_tool_use_id":'"${2:-null}"'}'; }
delta() { event '{"type":"content_block_delta","index":0,"delta":{"type":"'"$1"'","'"$2"'":"'"$3"'"}}' "$4"; }
echo '{"type":"system","subtype":"init"}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}'
delta thinking_delta thinking 'a secret thought'
echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"a secret thought"}]}}'
event '{"type":"content_block_stop","index":0}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
delta text_delta text 'Hello, '
delta text_delta text 'of a subagent' '"t1"'
delta text_delta text 'wor'
wait_for go
delta text_delta text 'ld!'
delta text_delta text ' 0123456789abcdef0123456789abcdef'
delta text_delta text '0123456789abcdef0123456789abcdef'
echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hello, world!"}]}}'
event '{"type":"content_block_stop","index":0}'
wait_for end
`)
}

// Text is sent as it is written, on any node, to clients that ask for it; a client that
// connects late gets the existing text, then the rest. It contains no thoughts, no
// subagent's text and no secrets, and is not stored.
func TestTextComesAsItIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := rig.Restartable(t, writer(t, dir))
	n := rig.Start(t, env)
	other := rig.Start(t, vars{"REDIS_URL": env["REDIS_URL"]}, "--role", "api")
	id := n.Create(t, object{"userId": "u1"})
	query := "userId=u1&text=true&requestId=" + id
	early, quiet := other.Listen(t, query), other.Listen(t, "userId=u1&requestId="+id)
	must.Equal(t, "Hello, wor", early.Written("Hello, wor"), "written was")
	late := n.Listen(t, query)
	must.Equal(t, "Hello, wor", late.Written("Hello, wor"), "who connects late gets")
	n.Stop(t, 9)
	n = rig.Start(t, env)
	must.Eventually(t, "the turn to be adopted", func() bool { return strings.Contains(n.Log.String(), "turn adopted") })
	rig.Release(t, dir)
	want := "Hello, world! " + strings.Repeat("*", 64)
	must.Equal(t, want, early.Written(want), "written was")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	for _, e := range quiet.Until("recipes:suggestions:cancelled") {
		if strings.HasSuffix(e["event"].(string), ":text") {
			t.Errorf("a client that did not ask for text got %v", e)
		}
	}
	if transcript := n.Text(t, "/api/jobs/"+id+"/transcript"); strings.Contains(transcript, "stream_event") || strings.Contains(transcript, "a secret thought") || !strings.Contains(transcript, `"text":"Hello, world!"`) {
		t.Errorf("the transcript has\n%s", transcript)
	}
}

// The real CLI's text comes before its message. Claude's thinking is nowhere, unless the kind says
// so: then it comes as text of its own kind, and is in the transcript, but in no message.
func TestTextOfTheRealCLI(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	const thought, answer = "The lake is cold.", "Let me see what is in season."
	pause := make(chan struct{})
	n, _ := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.KindsDir(t, "quiet.md", "---\nmax_blocks: 0\n---\nAnswer.", "loud.md", "---\nmax_blocks: 0\nthinking: true\n---\nAnswer.")},
		func(messagesapi.Request) messagesapi.Reply {
			return messagesapi.Reply{Thinking: thought, Text: answer, Pause: pause}
		})
	ids, listeners := map[string]string{}, map[string]*rig.Listener{}
	for _, kind := range []string{"quiet", "loud"} {
		ids[kind] = n.Create(t, object{"kind": kind, "input": object{}, "userId": "u1"})
		listeners[kind] = n.Listen(t, "userId=u1&text=true&requestId="+ids[kind])
	}
	close(pause)
	for kind, l := range listeners {
		written := map[bool]string{}
		for !strings.HasSuffix(written[false], answer) {
			frames := l.Until(kind + ":text")
			data := frames[len(frames)-1]["data"].(object)
			written[data["thinking"] == true] += data["text"].(string)
		}
		shown := kind == "loud"
		if written[false] != answer || strings.Contains(written[true], thought) != shown {
			t.Errorf("%s: written was %q, thinking %q", kind, written[false], written[true])
		}
		sessionID := n.Want(t, 200, "GET", "/api/jobs/"+ids[kind], nil)["sessionId"].(string)
		must.Eventually(t, "the message to be in the chat", func() bool {
			return strings.Contains(rig.JSON(n.Messages(t, sessionID, "")), answer)
		})
		n.Want(t, 200, "POST", "/api/jobs/"+ids[kind]+"/cancel", nil)
		n.Await(t, ids[kind], "cancelled")
		must.Eventually(t, "the transcript to be there", func() bool {
			transcript := n.Text(t, "/api/jobs/"+ids[kind]+"/transcript")
			return strings.Contains(transcript, answer) && strings.Contains(transcript, thought) == shown
		})
		must.NotContain(t, rig.JSON(n.Messages(t, sessionID, "")), thought, kind, "the chat has")
	}
}

// On the command line, watch --text shows text as it is written, once.
func TestWatchShowsTextAsItIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := rig.Start(t, vars{"PROMPTS_DIR": rig.KindsDir(t, "loud.md", "---\nthinking: true\n---\nAnswer."), "CLAUDE_BIN": rig.Script(t, `
cat > .prompt.txt
event() { echo '{"type":"stream_event","event":'"$1"',"session_id":"s","parent_tool_use_id":null}'; }
delta() { event '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'"$1"'"}}'; }
echo '{"type":"system","subtype":"init"}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}'
event '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Whom do I greet?"}}'
while [ ! -e `+dir+`/begin ]; do sleep 0.02; done
event '{"type":"content_block_stop","index":0}'
event '{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}'
delta 'Hello, wor'
while [ ! -e `+dir+`/go ]; do sleep 0.02; done
delta 'ld!'
echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hello, world!"}]}}'
event '{"type":"content_block_stop","index":0}'
sleep 1000
`)})
	id := n.Create(t, object{"kind": "loud", "input": object{}, "userId": "u1"})
	watch := func(args ...string) (out *harness.Log, end func()) {
		cmd := exec.CommandContext(t.Context(), harness.Binary(), append([]string{"watch", id}, args...)...)
		home := t.TempDir()
		cmd.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH=" + os.Getenv("PATH"), "RINGBACK_URL=" + n.URL, "RINGBACK_USER=u1"}
		out = harness.NewLog(t)
		cmd.Stdout, cmd.Stderr = out.File, out.File
		must.OK(t, cmd.Start())
		return out, func() { _ = cmd.Wait() }
	}
	text, end := watch("--text")
	plain, endPlain := watch()
	must.Eventually(t, "the thinking to be shown", func() bool { return strings.Contains(text.String(), "Whom do I greet?") })
	must.OK(t, os.WriteFile(filepath.Join(dir, "begin"), nil, 0o600))
	must.Eventually(t, "the beginning to be shown", func() bool { return strings.Contains(text.String(), "Hello, wor") })
	rig.Release(t, dir)
	must.Eventually(t, "the message", func() bool { return strings.Contains(plain.String(), "Hello, world!") })
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	end()
	endPlain()
	if strings.Count(text.String(), "Hello, wor") != 1 || !strings.Contains(text.String(), "\n│ Thinking: Whom do I greet?\n│ Hello, world!\n") {
		t.Errorf("with --text, it showed\n%s", text)
	}
	if !strings.Contains(plain.String(), "Claude: Hello, world!") || strings.Count(plain.String(), "Hello, wor") != 1 || strings.Contains(plain.String(), "greet") {
		t.Errorf("without --text, it showed\n%s", plain)
	}
}
