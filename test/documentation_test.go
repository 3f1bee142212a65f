package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/markdown"
)

// unchecked are the code blocks and commands that cannot be run here, by their
// first line, and what is run instead of them, if anything.
var unchecked = map[string]struct{ reason, instead string }{
	"make test": {reason: "this test is part of it", instead: "make --dry-run test"},
}

// documents are the README and the manual, by their paths in the repository.
func documents(t *testing.T) map[string]markdown.Document {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	all := map[string]markdown.Document{}
	for _, file := range append(files, "../README.md") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(file, "../")
		if all[name], err = markdown.Parse(source); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// Whoever types what a document tells, from its first block to its last, in a
// fresh directory and with nothing but the defaults, sees what it shows.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	last := 20000 + os.Getpid()%8000
	for name, d := range documents(t) {
		port := freePortAfter(t, last)
		last, _ = strconv.Atoi(port)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, name, port)
			for i, b := range d.Blocks {
				r.follow(t, b, turnsAway(d.Blocks[i:]))
			}
			for _, terminal := range r.terminals {
				r.finish(t, terminal)
			}
		})
	}
}

// turnsAway reports whether what is typed after the first block is typed in another
// terminal.
func turnsAway(blocks []markdown.Block) bool {
	for _, next := range blocks[1:] {
		if next.Language == "sh" && next.File == "" {
			return next.Terminal != blocks[0].Terminal
		}
	}
	return false
}

// firstWords is a command without its remark.
func firstWords(source string) string {
	line, _, _ := strings.Cut(source, "\n")
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimSpace(line)
}

// Every other code block is what it says it is, and none is left out in silence.
func TestDocumentedBlocksAreValid(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for name, d := range documents(t) {
		for _, b := range d.Blocks {
			at := fmt.Sprintf("%s:%d", name, b.Line)
			first := firstWords(b.Text)
			switch _, listed := unchecked[first]; {
			case b.Unchecked && !listed:
				t.Errorf("%s: the block is marked as unchecked, but the test does not list %q with a reason", at, first)
			case b.Unchecked:
				used[first] = true
			case b.Language == "json":
				if text := withoutElisions(b.Text); !json.Valid([]byte(text)) {
					t.Errorf("%s: this is no JSON: %s", at, text)
				}
			case (b.Language == "yaml" || b.Language == "markdown") && b.File == "":
				checkKind(t, at, b.Text)
			case !slices.Contains([]string{"sh", "text", "yaml", "markdown"}, b.Language):
				t.Errorf("%s: nothing checks blocks of the language %q", at, b.Language)
			}
		}
	}
}

// withoutElisions makes JSON of JSON in which … stands for what is left out.
func withoutElisions(text string) string {
	return strings.NewReplacer("{…}", "{}", "[…]", "[]", ", …", "", ": …", ": null").Replace(text)
}

// checkKind has ringback check read front matter.
func checkKind(t *testing.T, at, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "---\n") {
		text = "---\ndescription: From the documentation\n" + text + "---\nDo it.\n"
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prompts", "documented.md"), text)
	cmd := exec.Command(binary, "check")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PROMPTS_DIR=prompts"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "kind documented") {
		t.Errorf("%s: ringback check does not like it: %v\n%s", at, err, out)
	}
}
