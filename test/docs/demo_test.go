package docs

import (
	"debug/buildinfo"
	"encoding/json"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// The commands at the end of the demonstration work as printed, in any directory and for
// any port.
func TestTheDemonstrationEndsWithCommandsThatWork(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil, "--demo")
	const end = "in another terminal, try:"
	must.Eventually(t, "the end of the demonstration", func() bool {
		_, after, ok := strings.Cut(strings.ToLower(n.Log.String()), end)
		return ok && strings.Count(after, "\n") >= 3
	})
	lines := regexp.MustCompile(`(?m)^  (.*ringback.* (?:list|run .*))$`).FindAllStringSubmatch(n.Log.String(), -1)
	if len(lines) != 2 {
		t.Fatalf("found %d commands in:\n%s", len(lines), n.Log)
	}
	for _, line := range lines {
		cmd := exec.Command("sh", "-c", line[1])
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "received") {
			t.Errorf("%s: %v:\n%s", line[1], err, out)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(harness.Binary(), "version", "-o", "json").Output()
	var b struct {
		Version, Commit, Date, Go, Platform string
		Modules                             int
	}
	if err != nil || json.Unmarshal(out, &b) != nil || b.Version == "" || !strings.HasPrefix(b.Go, "go1.") || b.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%v: %s", err, out)
	}
	// It reports what Go has recorded, if anything.
	info := must.Get(buildinfo.ReadFile(harness.Binary()))(t)
	must.Equal(t, len(info.Deps), b.Modules, "modules")
	recorded := map[string]string{}
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	revision := recorded["vcs.revision"]
	if b.Date != recorded["vcs.time"] || (b.Commit == "") != (revision == "") || !strings.HasPrefix(revision, strings.TrimSuffix(b.Commit, "-dirty")) {
		t.Errorf("%s does not fit what go version -m reports: %s", out, info)
	}
	if v := info.Main.Version; revision != "" && b.Version != v {
		t.Errorf("version %s, want %s", b.Version, v)
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if out, err := exec.Command(harness.Binary(), args...).Output(); err != nil || !strings.HasPrefix(string(out), "ringback "+b.Version+" (") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
