package console

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// cleanupKind removes files, and shows first which.
const cleanupKind = `---
actions:
  - name: cleanup
    title: Clean up
    question: Clean up {{input.dir}}?
    input: {type: object, required: [dir], properties: {dir: {type: string}}}
    preview:
      command: [sh, -c, 'cat "$1"', sh, '{{input.dir}}/list']
    command: [sh, -c, 'touch "$1/ran"', sh, '{{input.dir}}']
---
Clean up.
`

// askPreview makes a job ask for an action with a preview.
func askPreview(t testing.TB, s *harness.Server) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "list"), []byte("remove a.txt\n<b>remove</b> b.txt\n"), 0o600))
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "cleanup", "userId": "u9", "input": harness.Object{}})
	callback(t, s, "/api/claude/actions/cleanup", envelope, harness.Object{"input": harness.Object{"dir": dir}})
	return questionOf(t, s, id)
}

// People see what an action would do. If that has changed since they approved it, nothing
// runs, and they are asked again with both previews.
func TestAPreviewIsShownAndBinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(text string) {
		must.OK(t, os.WriteFile(filepath.Join(dir, "list"), []byte(text), 0o600))
	}
	ran := func() bool {
		_, err := os.Stat(filepath.Join(dir, "ran"))
		return err == nil
	}
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{"cleanup.md": cleanupKind})})
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "cleanup", "userId": "u1", "input": harness.Object{}})
	call := func(confirmed bool) harness.Object {
		body := harness.Object{"requestId": id, "hmac": envelope["hmac"], "input": harness.Object{"dir": dir}}
		if confirmed {
			values := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback"})
			body["hmac"], body["confirmed"] = values["hmac"], true
		}
		return s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/actions/cleanup", Body: body})
	}
	write("remove a.txt\n<b>remove</b> b.txt\n")
	call(false)
	b := open(t, s, "/inbox")
	for i := range 3 {
		b.sees("What it would do", "remove a.txt", "<b>remove</b> b.txt")
		b.press("Approve")
		harness.Eventually(t, "the job to go on", func() bool { return record(t, s, id)["status"] == "running" })
		write("remove a.txt\n<b>remove</b> b.txt\nremove more" + strconv.Itoa(i) + "\n")
		if answer := call(true); answer["status"] != "pending_confirmation" {
			t.Fatalf("a call whose preview has changed was answered %v", answer)
		}
		b.visit("/inbox")
		b.sees("What it would do has changed since it was approved", "remove more"+strconv.Itoa(i))
	}
	if ran() {
		t.Fatal("it ran")
	}
	b.press("Approve")
	harness.Eventually(t, "the job to go on", func() bool { return record(t, s, id)["status"] == "running" })
	if answer := call(true); answer["status"] != "success" || !ran() {
		t.Errorf("what was approved was answered %v", answer)
	}
	b.sees("Nothing waits for an answer")
	b.visit("/jobs/" + id + "/audit")
	b.sees("shown: whole", "preview ")
	log := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints?status=answered"})
	if list, _ := log["checkpoints"].([]any); len(list) != 4 {
		t.Errorf("%d questions were answered, want 4", len(list))
	}
}

// A review shows suspicious changes first.
func TestAReviewNamesWhatToLookAtTwice(t *testing.T) {
	t.Parallel()
	claude := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, strings.Join([]string{
		"#!/bin/bash", "cd service || exit", "rm greeting.txt", "ln -s /etc/passwd users", "echo x > go.sum", `printf '\0\1' > logo.bin`, "chmod +x tool",
		"echo A=1 > .env", "seq 1 1200 > long.txt", "cd ..", harness.SubmitsChange,
	}, "\n"))
	s := start(t, harness.Vars{"CLAUDE_BIN": claude})
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n", "tool": "#!/bin/sh\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("Look twice")
	text := b.value(`document.getElementById("attention").innerText`)
	for _, want := range []string{
		"A symbolic link", "service/users", "often hold secrets", "service/.env", "Lock files", "service/go.sum", "Deleted", "service/greeting.txt",
		"Another mode", "service/tool", "100644→100755", "Binary", "service/logo.bin", "Very large", "service/long.txt",
	} {
		must.Contain(t, text, want)
	}
	b.sees("folded: 1,200 lines", "8 files not looked at yet")
	b.must(`(() => { const long = [...document.querySelectorAll(".patch > details")].filter(one => !one.open); return long.length === 1 && long[0].innerText.includes("long.txt") })()`,
		"the large file alone is not folded")
	b.must(`(() => { const logs = document.getElementById("logs"), look = document.getElementById("attention"), tree = document.querySelector(".filetree"); return (logs.compareDocumentPosition(look) & 4) > 0 && (look.compareDocumentPosition(tree) & 4) > 0 })()`,
		"it does not stand between the checks and the files")
}
