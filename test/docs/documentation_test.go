package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/sample"
)

// insteadOf contains replacements for the few documented commands that cannot be run in a
// test.
var insteadOf = map[string]string{
	"make test": "make --dry-run test", // it runs this test
	// At a terminal, these show the job or the question, and ask.
	`ringback reply "Use 16:9"`:                                                    `ringback reply $(ringback status --output json | jq -r .checkpoint.id) "Use 16:9"`,
	`ringback reject --reason "not now"`:                                           `ringback reject $(ringback status --output json | jq -r .requestId) --reason "not now"`,
	`ringback steer --prompt "Also validate the payments handler" --wait`:          `ringback steer $(ringback status --output json | jq -r .requestId) --prompt "Also validate the payments handler" --wait`,
	`ringback steer --prompt "Also add validation to the payments handler" --wait`: `ringback steer $(ringback status --output json | jq -r .requestId) --prompt "Also add validation to the payments handler" --wait`,
	"ringback approve":             "ringback approve --yes $(ringback status --output json | jq -r .requestId)",
	`ringback reply "Yes, Deploy"`: `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Yes, Deploy"`,
	`ringback reply "Post it"`:     `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Post it"`,
	`ringback reply "Print it"`:    `ringback reply $(ringback status --output json | jq -r .checkpoint.id) --yes "Print it"`,
}

// documents returns the documents of the repository, by their paths.
func documents(t *testing.T) map[string]markdown.Document {
	t.Helper()
	return must.Get(markdown.Documents("../.."))(t)
}

// A reader who types all commands of a document, in a fresh directory and with only the
// defaults, sees the documented output.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	all := documents(t)
	maps.DeleteFunc(all, func(_ string, d markdown.Document) bool {
		return !slices.ContainsFunc(d.Blocks, func(b markdown.Block) bool { return b.Language == "sh" })
	})
	for name, d := range sample.Cases(t, 5, all) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, name, harness.FreePort(t))
			for i, b := range d.Blocks {
				r.follow(t, b, turnsAway(d.Blocks[i:]))
			}
			for _, terminal := range r.terminals {
				r.finish(t, terminal)
			}
		})
	}
}

// turnsAway reports whether the block after the first is typed in another terminal.
func turnsAway(blocks []markdown.Block) bool {
	for _, next := range blocks[1:] {
		if next.Language == "sh" && next.File == "" {
			return next.Terminal != blocks[0].Terminal
		}
	}
	return false
}

// firstWords returns a command without its comment.
func firstWords(source string) string {
	line, _, _ := strings.Cut(source, "\n")
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimSpace(line)
}

// aCommand matches a line that a reader would type.
var aCommand = regexp.MustCompile(`(?m)^\s*(\$|ringback|\./bin/ringback|curl|make|git|export) `)

// Every other code block is valid in its language, and none hides a command.
func TestDocumentedBlocksAreValid(t *testing.T) {
	t.Parallel()
	for name, d := range documents(t) {
		for _, b := range d.Blocks {
			at := fmt.Sprintf("%s:%d", name, b.Line)
			switch b.Language {
			case "sh": // run by TestDocumentedCommandsWork
			case "go": // run by TestTheDocumentedGoClient
				must.Equal(t, filepath.Join("docs", "clients.md"), name, at, "nothing runs this")
			case "ts", "tsx": // compiled by test/clients
			case "json":
				if text := withoutElisions(b.Text); !json.Valid([]byte(text)) {
					t.Errorf("%s: this is no JSON: %s", at, text)
				}
			case "yaml", "markdown":
				if b.File == "" {
					checkKind(t, at, b.Text)
				}
			case "html", "js": // test/clients opens the tutorial's page
				if b.File == "" || name != filepath.Join("docs", "tutorial.md") {
					t.Errorf("%s: nothing runs this", at)
				}
			case "mermaid": // generated from the code, and compared by a test in internal/job
				if !strings.HasPrefix(b.Text, "stateDiagram-v2\n") || name != filepath.Join("docs", "architecture.md") {
					t.Errorf("%s: nothing checks this diagram", at)
				}
			case "text":
				must.Equal(t, "", aCommand.FindString(b.Text), at, "is a command: the block's language is sh")
			default:
				t.Errorf("%s: nothing checks blocks of the language %q", at, b.Language)
			}
		}
	}
}

// withoutElisions returns valid JSON for JSON in which … stands for omissions.
func withoutElisions(text string) string {
	return strings.NewReplacer("{…}", "{}", "[…]", "[]", ", …", "", ": …", ": null").Replace(text)
}

// checkKind checks front matter with ringback check.
func checkKind(t *testing.T, at, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "---\n") {
		text = "---\ndescription: From the documentation\n" + text + "---\nDo it.\n"
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prompts", "documented.md"), text)
	// git finds the repositories of examples here.
	must.OK(t, exec.Command("git", "init", "--quiet", "--bare", filepath.Join(dir, "hosts", "org", "service.git")).Run())
	write(t, filepath.Join(dir, ".gitconfig"), "[url \"file://"+dir+"/hosts/\"]\n\tinsteadOf = https://github.com/\n")
	cmd := exec.Command(harness.Binary(), "check")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PROMPTS_DIR=prompts"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "kind documented") {
		t.Errorf("%s: ringback check does not like it: %v\n%s", at, err, out)
	}
}
