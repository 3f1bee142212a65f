package console

import (
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// A line of 10 MB is shown in pieces, page by page. Each place where a person decides is small, names
// the file first and says that not all of it is there; only a further act approves what was not shown.
func TestALineOfTenMegabytesIsNotApprovedUnseen(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	claude := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, "#!/bin/bash\ncd service && { yes abcdefgh | tr -d '\\n' | head -c 5000000; yes '\x01<' | tr -d '\\n' | head -c 5000000; echo; } > wide.txt && cd ..\n"+harness.SubmitsChange)
	s := start(t, harness.Vars{"CLAUDE_BIN": claude})
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	diff := s.URL + "/api/jobs/" + id + "/diff"
	for address, most := range map[string]int{diff: 2 << 20, diff + "?from=1&max_lines=10000": 3 << 20, s.URL + "/api/jobs/" + id: 100 << 10, s.URL + "/jobs/" + id + "/review": 4 << 20, s.URL + "/jobs/" + id + "/review?from=110": 32 << 20} {
		if size := len(harness.Text(t, address)); size > most {
			t.Errorf("%s has %d bytes", address, size)
		}
	}
	if text := harness.Text(t, diff); !strings.Contains(text, `"truncated":true`) || !strings.Contains(text, "a line is longer than 64 KiB") || !strings.Contains(text, "Long lines are cut here") {
		t.Errorf("the diff does not say that it is cut: %.300s", text)
	}

	term := openTerminal(t, s, 100, 40, "approve", id)
	first := term.screen("About to approve")
	must.Contain(t, first, "added wide.txt (+1/-0) CAUTION: a line is longer than 64 KiB", "ringback approve begins with")
	term.keys("q")
	must.Contain(t, term.screen("[y/N]"), "Lines of the change that were not shown: ", "ringback approve asks")
	term.keys("n", "Enter")
	term.whole()

	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("Look twice", "A line is longer than 64 KiB: it is shown in pieces", "Not all lines of this file are on this page", "The lines that follow", "2 files not looked at yet")
	b.press("Approve all 2 files")
	must.Equal(t, "awaiting_approval", record(t, s, id)["status"], "without a further act, the job is")
	b.is(`(document.querySelector("[name=unviewed-too]").checked = true)`)
	b.press("Approve all 2 files")
	harness.Eventually(t, "the change to be pushed", func() bool { return record(t, s, id)["status"] == "received" })
	must.Contain(t, harness.Text(t, s.URL+"/api/jobs/"+id+"/audit"), `"shown":"paged"`, "the audit log is")
	if peak := harness.Memory(t, s.Cmd.Process.Pid, "VmHWM"); peak > 300<<20 {
		t.Errorf("the server took %d MiB of memory", peak>>20)
	}
}
