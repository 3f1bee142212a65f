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

// repository creates a bare repository with some files.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "service.git")
	harness.GitRepository(t, bare, "main", files)
	return bare
}

// createChange requests a change of a repository, and waits until it is ready for review.
func createChange(t testing.TB, s *harness.Server, repository string) string {
	t.Helper()
	id := create(t, s, harness.Object{"kind": "code-change", "userId": "u1", "input": harness.Object{
		"prompt": "Say hello", "require_approval": true, "repos": []any{harness.Object{"url": repository}},
		"verifiers": []any{harness.Object{"name": "there", "command": "test -e greeting.txt"}, harness.Object{"name": "long", "command": "seq 1 30; false"}},
	}})
	harness.Eventually(t, "the review", func() bool { return record(t, s, id)["status"] == "awaiting_approval" })
	return id
}

// Each line of a change that is longer than a page can be seen on some page, forwards and
// backwards; comments on one page are kept on the others. To approve, a person must tick a
// box for what was not viewed.
func TestEachLineOfALongChangeCanBeSeen(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	const lines = 6500
	s := start(t, harness.Vars{"CLAUDE_BIN": longChange(t, lines)})
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review")
	seen := map[string]bool{}
	look := func() {
		for place := range strings.SplitSeq(b.value(`[...document.querySelectorAll("[data-place]")].map(cell => cell.dataset.place).join("\n")`), "\n") {
			seen[place] = true
		}
	}
	unfold := func() {
		b.is(`(document.querySelectorAll(".patch > details").forEach(one => { one.open = true }), true)`)
	}
	unfold()
	look()
	const place = "service/long.go:100"
	b.comments(place, "why?")
	for pages := 1; b.is(`!!document.querySelector("a[rel=next]")`); pages++ {
		at := b.address()
		b.do(chromedp.Click(`a[rel=next]`))
		b.awaits("the next page", func() bool { return b.address() != at && b.is(`document.readyState === "complete"`) })
		b.holds(`#steer [name="comment:`+place+`"]`, "why?")
		look()
		if pages > 3 {
			t.Fatal("there is always another page")
		}
	}
	for n := range lines {
		if at := fmt.Sprintf("service/long.go:%d", n+1); !seen[at] {
			t.Fatalf("%s is on no page", at)
		}
	}
	for b.is(`!!document.querySelector("a[rel=prev]")`) {
		at := b.address()
		b.do(chromedp.Click(`a[rel=prev]`))
		b.awaits("the page before", func() bool { return b.address() != at && b.is(`document.readyState === "complete"`) })
	}
	unfold()
	if b.holds(`tr.comment [name="comment:`+place+`"]`, "why?"); !b.is(`document.querySelector("tr.comment").previousElementSibling.innerText.includes("100")`) {
		t.Error("the comment does not stand at its line")
	}

	b.sees("2 files +6501", "service/long.go", "Approve 2 files that I have not looked at", "Approve all 2 files")
	b.do(chromedp.Click(`[name=unviewed-too]`))
	b.press("Approve all 2 files")
	harness.Eventually(t, "the change to be pushed", func() bool { return record(t, s, id)["status"] == "received" })
	b.until("the page after the decision", `document.readyState === "complete" && !document.getElementById("decide")`)
	b.visit("/jobs/" + id + "/audit")
	b.sees("shown: a page, the rest approved unseen")
}

// longChange creates a stand-in for Claude that writes a file with the given number of
// lines.
func longChange(t testing.TB, lines int) string {
	t.Helper()
	claude := filepath.Join(t.TempDir(), "claude")
	text := fmt.Sprintf("#!/bin/bash\ncd service && for n in $(seq 1 %d); do echo \"var v$n = call($n, \\\"text $n\\\") // line $n\"; done > long.go && cd ..\n", lines)
	harness.WriteProgram(t, claude, text+harness.SubmitsChange)
	return claude
}

// A reviewer comments on a line, steers twice, looks at the changes in between and at a
// whole file, and approves what is on the screen; approving anything else is rejected.
func TestAChangeIsReviewed(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	remote := repository(t, map[string]string{"greeting.txt": "hello\n"})
	id := createChange(t, s, remote)
	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("SIMULATED.md", "Say hello", "failed (1)", "Decide on round 1 of at most 6")
	b.comments("service/SIMULATED.md:1", "too loud")
	b.fill("#prompt", "Whisper")
	stale := open(t, s, "/jobs/"+id+"/review", noScript())
	b.press("Start another round")
	b.sees("Decide on round 2 of at most 6", "service/SIMULATED.md:1: too loud")

	stale.do(chromedp.Click(`[name=unviewed-too]`), chromedp.Click(`#decide button[value="approve"]`))
	stale.sees("You decided on round 1, but the change is now at round 2", "Decide on round 2 of at most 6")
	if status := record(t, s, id)["status"]; status != "awaiting_approval" {
		t.Fatalf("the job is %v", status)
	}

	b.fill("#prompt", "Sing")
	b.press("Start another round")
	b.sees("Decide on round 3 of at most 6")
	b.press("Since round 2")
	b.awaits("the last round alone", func() bool {
		patches := b.value(`document.getElementById("patches")?.innerText ?? ""`)
		return strings.Contains(patches, "Sing") && strings.Contains(patches, "Whisper") && !b.is(`[...document.querySelectorAll("tr.add")].some(row => row.innerText.includes("Whisper"))`)
	})
	b.press("The whole file")
	b.sees("All files of the change", "to decide")
	b.press("Side by side")
	b.until("two columns", `!!document.querySelector("table.lines.split")`)
	b.press("Viewed")
	b.until("the tick", `!!document.querySelector(".tick[aria-pressed=true]")`)
	b.press("to decide")
	b.press("Approve the file")
	harness.Eventually(t, "the change to be pushed", func() bool { return record(t, s, id)["status"] == "received" })
	must.Contain(t, harness.Git(t, remote, "branch", "--list"), id, "the remote has")
}
