package docs

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/rig"
)

// flagsOfOthers are flags in the documents that belong to other programs.
var flagsOfOthers = []string{"--resume", "--model", "--max-turns", "--thinking-display"} // the Claude CLI's

// Everything named in the text and tables of the documents exists: commands and their
// flags, targets of make, endpoints, variables, files.
func TestDocumentedNamesExist(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	cli := commandTree(t)
	all := documents(t)
	var known sync.Map // what is wrong with a name that several documents have
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, span := range d.Spans {
				wrong, found := known.Load(span.Text)
				if !found {
					wrong = wrongName(t, n, cli, span.Text)
					known.Store(span.Text, wrong)
				}
				must.Equal[any](t, "", wrong, name, span.Line, span.Text)
			}
			for _, link := range d.Links {
				if !leadsSomewhere(all, name, link.Text) {
					t.Errorf("%s:%d: there is no %s", name, link.Line, link.Text)
				}
			}
			checkVariables(t, name, d.Rows)
		})
	}
}

// leadsSomewhere reports whether the target of a document's link exists: the file, and the
// heading in it.
func leadsSomewhere(all map[string]markdown.Document, from, link string) bool {
	file, heading, _ := strings.Cut(link, "#")
	if strings.Contains(file, "://") {
		return true
	}
	path := from
	if file != "" {
		path = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
		return false
	}
	return heading == "" || slices.Contains(all[path].Anchors, heading)
}

// Every document is reachable by links.
func TestEveryDocumentIsInTheIndex(t *testing.T) {
	t.Parallel()
	all := documents(t)
	index := filepath.Join("docs", "README.md")
	linked := map[string]bool{index: true}
	for _, link := range all[index].Links {
		file, _, _ := strings.Cut(link.Text, "#")
		linked[filepath.Join("docs", file)] = true
	}
	for name := range all {
		if strings.HasPrefix(name, "docs"+string(filepath.Separator)) && !linked[name] {
			t.Errorf("%s does not lead to %s", index, name)
		}
	}
}

// wrongName describes what is wrong with a name in a document; empty if nothing is.
func wrongName(t *testing.T, n *rig.Node, cli commands, text string) string {
	t.Helper()
	switch first, _, _ := strings.Cut(text, " "); {
	case strings.HasPrefix(text, "ringback "):
		return cli.takes(t, text)
	case cli.commands[first] && strings.Contains(text, " --"):
		return cli.takes(t, "ringback "+text)
	case strings.HasPrefix(text, "--") && !cli.flags[first] && !slices.Contains(flagsOfOthers, first):
		return "no command has this flag"
	case first == "make":
		return makes(t, text)
	case slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}, first):
		return answersAt(t, n, text)
	}
	return ""
}

// commands contains the commands of the command line, and all their flags.
type commands struct{ commands, flags map[string]bool }

var (
	flagInHelp    = regexp.MustCompile(`(?m)^\s+(?:-\w, )?(--[\w-]+)`)
	exampleInHelp = regexp.MustCompile(`(?m)^  (ringback .*)`)
)

// commandTree reads the help of every command, whose examples must be correct, too.
func commandTree(t *testing.T) commands {
	t.Helper()
	tree := commands{map[string]bool{}, map[string]bool{}}
	list := must.Get(exec.Command(harness.Binary(), "__complete", "").Output())(t)
	var mu sync.Mutex
	var all sync.WaitGroup
	for line := range strings.Lines(string(list)) {
		name, _, isCommand := strings.Cut(line, "\t")
		if !isCommand {
			continue
		}
		tree.commands[name] = true
		all.Go(func() {
			help, err := exec.Command(harness.Binary(), name, "--help").Output()
			if err != nil {
				t.Errorf("ringback %s --help: %v", name, err)
			}
			for _, example := range exampleInHelp.FindAllStringSubmatch(string(help), -1) {
				must.Equal(t, "", tree.takes(t, example[1]), "ringback", name, "--help shows", example[1])
			}
			mu.Lock()
			defer mu.Unlock()
			for _, flag := range flagInHelp.FindAllStringSubmatch(string(help), -1) {
				tree.flags[flag[1]] = true
			}
		})
	}
	all.Wait()
	return tree
}

var placeholder = regexp.MustCompile(`<[^>]*>|…`)

// takes requests the help of each ringback command in a command line, with all of its
// flags: unknown flags and commands are rejected first.
func (commands) takes(t *testing.T, line string) string {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(placeholder.ReplaceAllString(line, "x")), "")
	if err != nil {
		return err.Error()
	}
	var problems []string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "ringback" {
			return true
		}
		words, err := expand.Fields(&expand.Config{}, call.Args[1:]...)
		if err != nil {
			problems = append(problems, err.Error())
		} else if out, err := exec.Command(harness.Binary(), append(words, "--help")...).CombinedOutput(); err != nil {
			problems = append(problems, string(out))
		}
		return true
	})
	return strings.Join(problems, "\n")
}

func makes(t *testing.T, line string) string {
	t.Helper()
	args := append([]string{"--dry-run", "--directory", "../.."}, strings.Fields(line)[1:]...)
	if out, err := exec.Command("make", args...).CombinedOutput(); err != nil {
		return string(out)
	}
	return ""
}

// answersAt reports whether an endpoint exists.
func answersAt(t *testing.T, n *rig.Node, endpoint string) string {
	t.Helper()
	words := strings.Fields(endpoint)
	path, _, _ := strings.Cut(regexp.MustCompile(`:\w+`).ReplaceAllString(words[1], "x"), "?")
	resp := n.Respond(t, words[0], path, nil)
	if resp.Status == http.StatusMethodNotAllowed || strings.Contains(resp.Text, "There is no endpoint at") {
		return fmt.Sprintf("%d %s", resp.Status, resp.Text)
	}
	return ""
}

// checkVariables compares tables with a column "variable", and perhaps "default", with
// .env.example, which another test compares with the code.
func checkVariables(t *testing.T, document string, rows []markdown.Row) {
	t.Helper()
	text := must.Get(os.ReadFile("../../.env.example"))(t)
	defaults := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		defaults[match[1]] = match[2]
	}
	for _, row := range rows {
		names := slices.DeleteFunc(slices.Clone(row.Cells["variable"]), func(name string) bool { return strings.ToUpper(name) != name })
		for i, name := range names {
			value, known := defaults[name]
			if !known {
				t.Errorf("%s:%d: .env.example does not know the variable %s", document, row.Line, name)
			}
			said := row.Cells["default"]
			if len(said) == len(names) && !placeholder.MatchString(said[i]) && said[i] != value {
				t.Errorf("%s:%d: the default of %s is %q, not %q", document, row.Line, name, value, said[i])
			}
		}
	}
}
