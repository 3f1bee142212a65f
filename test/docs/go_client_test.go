package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/rig"
)

// The program in docs/clients.md is a separate module that imports the client as
// documented.
func TestTheDocumentedGoClient(t *testing.T) {
	t.Parallel()
	d := documents(t)[filepath.Join("docs", "clients.md")]
	at := slices.IndexFunc(d.Blocks, func(b markdown.Block) bool { return b.Language == "go" })
	if at < 1 {
		t.Fatal("no program in Go")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	n := rig.Start(t, nil)
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		// Without -trimpath, all dependencies would be compiled again.
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod -trimpath", "RINGBACK_URL="+n.URL)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	write(t, filepath.Join(dir, "main.go"), d.Blocks[at].Text)
	sums := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	run("mod", "init", "example.com/menu")
	for line := range strings.Lines(d.Blocks[at-1].Text) {
		if edit, ok := strings.CutPrefix(strings.TrimSpace(line), "go mod edit "); ok {
			run(append([]string{"mod", "edit"}, strings.Fields(strings.ReplaceAll(edit, "../ringback", root))...)...)
		}
	}
	if said := run("run", "."); !strings.Contains(said, "received") || !strings.Contains(said, "Baked salmon") {
		t.Errorf("it printed %s", said)
	}
}
