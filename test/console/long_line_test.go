package console

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
)

// peakMemory returns the peak memory of a process, in bytes.
func peakMemory(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// sizeOf returns the size of an answer in bytes.
func sizeOf(t testing.TB, address string) int64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	size, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s was answered %d: %v", address, resp.StatusCode, err)
	}
	return size
}

// A line of 10 MB is shown in pieces, page by page. Each place where a person decides is small, names
// the file first and says that not all of it is there; only a further act approves what was not shown.
func TestALineOfTenMegabytesIsNotApprovedUnseen(t *testing.T) {
	t.Parallel()
	claude := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, claude, []byte("#!/bin/bash\ncd service && { yes abcdefgh | tr -d '\\n' | head -c 5000000; yes '\x01<' | tr -d '\\n' | head -c 5000000; echo; } > wide.txt && cd ..\nexec "+harness.Binary()+" simulate \"$@\"\n"))
	s := start(t, harness.Vars{"CLAUDE_BIN": claude})
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	diff := s.URL + "/api/jobs/" + id + "/diff"
	for address, most := range map[string]int64{diff: 2 << 20, diff + "?from=1&max_lines=10000": 3 << 20, s.URL + "/api/jobs/" + id: 100 << 10, s.URL + "/jobs/" + id + "/review": 4 << 20, s.URL + "/jobs/" + id + "/review?from=110": 32 << 20} {
		if size := sizeOf(t, address); size > most {
			t.Errorf("%s has %d bytes", address, size)
		}
	}
	if text := harness.Text(t, diff); !strings.Contains(text, `"truncated":true`) || !strings.Contains(text, "a line is longer than 64 KiB") || !strings.Contains(text, "Long lines are cut here") {
		t.Errorf("the diff does not say that it is cut: %.300s", text)
	}

	term := openTerminal(t, s, 100, 40, "approve", id)
	first := term.screen("About to approve")
	if !strings.Contains(first, "added wide.txt (+1/-0) CAUTION: a line is longer than 64 KiB") {
		t.Errorf("ringback approve begins with %s", first)
	}
	term.keys("q")
	if asked := term.screen("[y/N]"); !strings.Contains(asked, "Lines of the change that were not shown: ") {
		t.Errorf("ringback approve asks %s", asked)
	}
	term.keys("n", "Enter")
	term.whole()

	b := open(t, s, "/jobs/"+id+"/review")
	b.sees("Look twice", "A line is longer than 64 KiB: it is shown in pieces", "Not all lines of this file are on this page", "The lines that follow", "2 files not looked at yet")
	b.press("Approve all 2 files")
	if status := record(t, s, id)["status"]; status != "awaiting_approval" {
		t.Errorf("without a further act, the job is %v", status)
	}
	b.is(`(document.querySelector("[name=unviewed-too]").checked = true)`)
	b.press("Approve all 2 files")
	harness.Eventually(t, "the change to be pushed", func() bool { return record(t, s, id)["status"] == "received" })
	if audit := harness.Text(t, s.URL+"/api/jobs/"+id+"/audit"); !strings.Contains(audit, `"shown":"paged"`) {
		t.Errorf("the audit log is %s", audit)
	}
	if peak := peakMemory(t, s.Cmd.Process.Pid); peak > 300<<20 {
		t.Errorf("the server took %d MiB of memory", peak>>20)
	}
}
