package console

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// threeFiles creates a stand-in for Claude that writes two files in addition to the
// simulated one. Each round changes grow.txt.
func threeFiles(t testing.TB) string {
	t.Helper()
	claude := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, "#!/bin/bash\ncd service && echo kept > keep.txt && echo more >> grow.txt && cd ..\n"+harness.SubmitsChange)
	return claude
}

// tick presses the button of a file and waits until the page shows that left of the three files
// are not viewed.
func (b *tab) tick(file string, left int) {
	b.t.Helper()
	b.do(chromedp.Click(`button[aria-label="Viewed: service/` + file + `"]`))
	b.until(fmt.Sprintf("%d files to be left", left), fmt.Sprintf(`document.readyState === "complete" &&
		document.querySelectorAll(".tick").length === 3 && document.querySelectorAll(".tick[aria-pressed=false]").length === %d`, left))
	switch left {
	case 0:
		b.loses("not looked at")
	case 1:
		b.sees("1 file not looked at yet, of 3")
	default:
		b.sees(fmt.Sprintf("%d files not looked at yet, of 3", left))
	}
}

// viewed returns the marked files of the list of files.
func (b *tab) viewed() string {
	b.t.Helper()
	return b.value(`[...document.querySelectorAll(".filetree .viewed a")].map(one => one.innerText.split("/").pop()).join(" ")`)
}

// Files that a person has viewed are marked on the server, until a round changes them.
// Approving unmarked files requires a second action, which shows how many there are.
func TestFilesAreMarkedAsViewed(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, harness.Vars{"CLAUDE_BIN": threeFiles(t)})
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("3 files not looked at yet", "Approve all 3 files")
	b.tick("keep.txt", 2)
	b.tick("grow.txt", 1)
	b.mustNot(`[...document.querySelectorAll(".patch > details")].some(one => one.open && one.innerText.includes("keep.txt"))`,
		"a file that was looked at is still unfolded")
	stale := open(t, s, "/jobs/"+id+"/review", noScript()) // the same person in another tab, which does not update
	stale.sees("1 file not looked at yet, of 3")
	must.Equal(t, "grow.txt keep.txt", stale.viewed(), "viewed in the other tab")
	stale.do(chromedp.Click(`[name=unviewed-too]`))
	b.tick("grow.txt", 2) // the mark was removed

	stale.press("Approve all 3 files")
	stale.sees("You have not marked all files of the change as viewed", "Also approve 2 files that I have not looked at")
	if stale.is(`document.querySelector("[name=unviewed-too]").checked`) {
		t.Error("what was ticked for one file counts for two")
	}
	stale.is(`(document.querySelector("[name=unviewed-too]").required = false, document.querySelector("#decide [value=approve]").click(), true)`)
	stale.sees("2 of 3 files are not marked as viewed")
	b.visit("/jobs/" + id) // nor can words approve it
	b.fill(`.say textarea`, "approve")
	b.press("Send")
	b.sees("You have not marked all files of the change as viewed")
	if status := record(t, s, id)["status"]; status != "awaiting_approval" {
		t.Fatalf("what was not looked at is approved: the job is %v", status)
	}

	b.visit("/jobs/" + id + "/review")
	b.tick("grow.txt", 1)
	b.fill("#reason", "Fine")
	b.tick("SIMULATED.md", 0) // even in a form that is being filled in
	b.fill("#prompt", "More")
	b.press("Start another round")
	b.sees("Decide on round 2 of at most 6", "2 files not looked at yet, of 3")
	must.Equal(t, "keep.txt", b.viewed(), "viewed after a round that changed the others")
	b.do(chromedp.Click(`[name=unviewed-too]`))
	b.press("Approve all 3 files")
	harness.Eventually(t, "the change to be pushed", func() bool { return record(t, s, id)["status"] == "received" })
	b.until("the page after the decision", `document.readyState === "complete" && !document.getElementById("decide")`)
	b.visit("/jobs/" + id + "/audit")
	b.sees("shown: whole", "1 of 3 files viewed")
}

// Marks are per person. Without JavaScript it works the same.
func TestEachPersonMarksFilesAsViewed(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	remote := repository(t, map[string]string{"greeting.txt": "hello\n"})
	s := start(t, harness.Vars{"CLAUDE_BIN": threeFiles(t), "REPOSITORY_PATHS": filepath.Dir(remote), "JWT_SECRET": "a-secret-of-at-least-32-characters", "API_KEYS": "key-of-ops-0123456789,key-of-dev-0123456789"})
	as := func(credential string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + credential}
	}
	id, _ := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: as("key-of-ops-0123456789"), Body: harness.Object{
		"kind": "code-change", "userId": "ada", "input": harness.Object{"prompt": "Say hello", "require_approval": true, "repos": []any{harness.Object{"url": remote}}},
	}})["requestId"].(string)
	harness.Eventually(t, "the review", func() bool {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: as("key-of-ops-0123456789")})["status"] == "awaiting_approval"
	})
	viewed := func(credential string) harness.Object {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/viewed", Header: as(credential)})
	}
	files, _ := viewed("key-of-ops-0123456789")["files"].([]any)
	for _, file := range files {
		file, _ := file.(harness.Object)
		mark := harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/viewed", Header: as("key-of-ops-0123456789"), Body: harness.Object{"repository": file["repository"], "digest": file["digest"], "viewed": true}}
		s.Want(t, 200, mark)
		mark.Body = harness.Object{"repository": file["repository"], "digest": strings.Repeat("0", 64), "viewed": true}
		s.Want(t, 409, mark)
	}
	must.Equal(t, 3.0, viewed("key-of-ops-0123456789")["viewed"], "files are viewed by the one who marked three")
	ada := mint(t, s, "ada")
	for _, other := range []string{ada, "key-of-dev-0123456789"} {
		must.Equal(t, 0.0, viewed(other)["viewed"], "files are viewed by somebody who marked none")
	}
	b := open(t, s, "/jobs/"+id+"/review", noScript(), phone())
	b.fill("#token", ada)
	b.press("Sign in")
	b.sees("3 files not looked at yet")
	for left, file := range []string{"SIMULATED.md", "grow.txt", "keep.txt"} {
		b.tick(file, 2-left)
	}
	b.press("Approve all 3 files")
	harness.Eventually(t, "the change to go on", func() bool {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: as(ada)})["status"] != "awaiting_approval"
	})
	_, log := harness.Send(t, s.URL, harness.Request{Method: "GET", Path: "/api/checkpoints?status=answered", Header: as(ada)})
	if list, _ := log["checkpoints"].([]any); len(list) != 1 {
		t.Errorf("%d questions were answered", len(list))
	}
}
