package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// pointersRepository creates a bare repository with a symbolic link and a submodule.
func pointersRepository(t testing.TB, target, commit string) string {
	t.Helper()
	bare := repository(t, map[string]string{"greeting.txt": "hello\n"})
	work := filepath.Join(t.TempDir(), "work")
	harness.Git(t, "", "clone", "--quiet", bare, work)
	must.OK(t, os.Symlink(target, filepath.Join(work, "settings")))
	harness.Git(t, work, "add", "settings")
	harness.Git(t, work, "update-index", "--add", "--cacheinfo", "160000,"+commit+",library")
	harness.Git(t, work, "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=Pointers")
	harness.Git(t, work, "push", "--quiet", "origin", "HEAD:main")
	return bare
}

// A change of a link's target or of a submodule's commit is one line among many. The page and the CLI
// name it first, with the reason, and show where it led before and leads now.
func TestWhatPointsElsewhereIsNamedFirst(t *testing.T) {
	t.Parallel()
	const target, before, commit = "settings.yaml", "1111111111111111111111111111111111111111", "the library's commit: "
	claude := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, strings.Join([]string{
		"#!/bin/bash", "cd service || exit", "for n in $(seq 30); do echo a > a$n; done", "ln -sfn /etc/passwd settings",
		"git init --quiet library && git -C library -c user.name=x -c user.email=x@a.example commit --quiet --allow-empty --message x",
		`echo "` + commit + `$(git -C library rev-parse HEAD)" > note`, "cd ..", harness.SubmitsChange,
	}, "\n"))
	s := start(t, harness.Vars{"CLAUDE_BIN": claude})
	id := createChange(t, s, pointersRepository(t, target, before))
	full := onTerminal(t, s, 120, "diff", id, "--full", "--no-pager")
	_, after, _ := strings.Cut(full, "+"+commit)
	after = strings.Fields(after)[0]
	lines := []string{"-" + target, "+/etc/passwd", "-Subproject commit " + before, "+Subproject commit " + after}
	reasons := []string{"a git repository of its own: only the id of its commit is pushed", "a symbolic link: opening it reads or writes its target"}

	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("Look twice")
	attention := b.value(`document.getElementById("attention").innerText`)
	for i, name := range []string{"service/library", "service/settings"} {
		if !strings.Contains(attention, reasons[i][1:]) || !strings.Contains(attention, name) {
			t.Errorf("%s is not named at the top of the page: %s", name, attention)
		}
	}
	shown := b.value(`[...document.querySelectorAll(".patch tr.add, .patch tr.del")].map(row => (row.className === "add" ? "+" : "-") + row.querySelector(".t").textContent.trim()).join("\n")`)
	opened := openTerminal(t, s, 120, 50, "approve", id)
	opened.screen("About to approve")
	opened.keys("G")
	opened.screen("new file mode")
	opened.keys("q")
	opened.screen("[y/N]")
	opened.keys("n", "Enter")
	must.Contain(t, opened.whole(), "nothing was done", "the change was approved")
	for _, line := range lines {
		for where, text := range map[string]string{"the page": shown, "ringback diff --full": full} {
			must.Contain(t, text+"\n", line, where)
		}
	}
	listed := strings.Split(onTerminal(t, s, 160, "diff", id), "\n")[2:]
	for i, name := range []string{"library", "settings"} {
		if want := fmt.Sprintf("  modified %s (+1/-1)", name); !strings.HasPrefix(listed[i], want) || !strings.Contains(listed[i], "CAUTION: "+reasons[i]) {
			t.Errorf("ringback diff lists %q, want %q", listed[i], want)
		}
	}
}
