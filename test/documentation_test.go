package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/markdown"
)

// insteadOf says what is typed instead of the few documented commands that cannot
// be run in a test.
var insteadOf = map[string]string{
	"make test": "make --dry-run test", // it runs this test
	// At a terminal, it shows what is asked, and asks.
	"ringback approve":             "ringback approve --yes $(ringback status --output json | jq -r .requestId)",
	`ringback reply "Yes, Deploy"`: `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Yes, Deploy"`,
	`ringback reply "Post it"`:     `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Post it"`,
	`ringback reply "Print it"`:    `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Print it"`,
}

// documents are the README and all that it leads to, by their paths in the
// repository.
func documents(t *testing.T) map[string]markdown.Document {
	t.Helper()
	all, err := markdown.Documents("..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whoever types what a document tells, from its first block to its last, in a
// fresh directory and with nothing but the defaults, sees what it shows.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	for name, d := range documents(t) {
		if !slices.ContainsFunc(d.Blocks, func(b markdown.Block) bool { return b.Language == "sh" }) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, name, freePort(t))
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

// aCommand is a line that somebody would type.
var aCommand = regexp.MustCompile(`(?m)^\s*(\$|ringback|\./bin/ringback|curl|make|git|export) `)

// Every other code block is what it says it is, and none hides a command.
func TestDocumentedBlocksAreValid(t *testing.T) {
	t.Parallel()
	for name, d := range documents(t) {
		for _, b := range d.Blocks {
			at := fmt.Sprintf("%s:%d", name, b.Line)
			switch b.Language {
			case "sh": // TestDocumentedCommandsWork types it
			case "go": // TestTheDocumentedGoClient runs it
				if name != filepath.Join("docs", "clients.md") {
					t.Errorf("%s: nothing runs this", at)
				}
			case "ts", "tsx": // test/clients has the compiler read it
			case "json":
				if text := withoutElisions(b.Text); !json.Valid([]byte(text)) {
					t.Errorf("%s: this is no JSON: %s", at, text)
				}
			case "yaml", "markdown":
				if b.File == "" {
					checkKind(t, at, b.Text)
				}
			case "html", "js": // test/clients opens the tutorial's page in a browser
				if b.File == "" || name != filepath.Join("docs", "tutorial.md") {
					t.Errorf("%s: nothing runs this", at)
				}
			case "mermaid": // drawn from the code, which a test in internal/job compares
				if !strings.HasPrefix(b.Text, "stateDiagram-v2\n") || name != filepath.Join("docs", "architecture.md") {
					t.Errorf("%s: nothing checks this diagram", at)
				}
			case "text":
				if command := aCommand.FindString(b.Text); command != "" {
					t.Errorf("%s: %q is a command: the block's language is sh", at, command)
				}
			default:
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
	cmd := exec.Command(harness.Binary(), "check")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PROMPTS_DIR=prompts"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "kind documented") {
		t.Errorf("%s: ringback check does not like it: %v\n%s", at, err, out)
	}
}
