package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/must"
)

// A stilted phrase is one that native engineers rarely write.
type stilted struct {
	phrase *regexp.Regexp
	// most is how often it may occur in 10,000 words of comments, about as often as in well-known Go
	// projects.
	most    float64
	instead string
}

var stiltedPhrases = []stilted{
	{regexp.MustCompile(`\b(is|are) (that|whether|how|who|what|when|until when|why)\b`), 6, `"returns", "reports whether", "is true if", "is returned when"`},
	{regexp.MustCompile(`\bwhere\b`), 6, `"if" for a condition, "when" for a time`},
	{regexp.MustCompile(`\b(say|says|said)\b`), 2, `"returns", "reports", "describes", "contains"`},
	{regexp.MustCompile(`\b(tell|tells|told)\b`), 3, `"notify", "report", "distinguish"`},
	{regexp.MustCompile(`\b(whoever|whom|whose|who)\b`), 6, "the name of the subject: the caller, the client, the node, the user"},
	{regexp.MustCompile(`\b(stands?|stood|lies?|lay)\b`), 2, `"is", or what happens`},
	{regexp.MustCompile(`\b(nobody|somebody|everybody|anybody)\b`), 1, `"no client", "no one", "another user"`},
	{regexp.MustCompile(`\b(anew|beside|besides|meanwhile|gone on|goes on|of its own)\b`), 2, `"again", "next to", "continues", "separate"`},
}

// Comments keep to the phrases of the field.
func TestCommentsAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	words, places := 0, make([][]string, len(stiltedPhrases))
	for file, at := range sources(t) {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:") || strings.Contains(c.Text, "nolint") {
					continue
				}
				words += len(strings.Fields(c.Text))
				for i, s := range stiltedPhrases {
					for range s.phrase.FindAllString(c.Text, -1) {
						places[i] = append(places[i], fmt.Sprint(at.Position(c.Pos()), ": ", c.Text))
					}
				}
			}
		}
	}
	for i, s := range stiltedPhrases {
		if most := int(s.most * float64(words) / 10_000); len(places[i]) > most {
			slices.Sort(places[i])
			t.Errorf("%v is in %d places of %d words; at most %d may have it. Write %s.\n%s", s.phrase, len(places[i]), words, most, s.instead, strings.Join(places[i], "\n"))
		}
	}
}

// Messages (errors, logs, help) hold none of these.
func TestMessagesAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`(?i)\b(whoever|whom|nobody|somebody|everybody|anybody|anew|beside|gone on|goes on|stands|lies)\b`)
	for file, at := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if found := forbidden.FindString(text); err == nil && found != "" && strings.Contains(text, " ") {
				t.Errorf("%s: %q is in %s", at.Position(lit.Pos()), found, lit.Value)
			}
			return true
		})
	}
}

// sources returns the Go files of the project that are not tests, parsed.
func sources(t *testing.T) map[*ast.File]*token.FileSet {
	t.Helper()
	found := map[*ast.File]*token.FileSet{}
	for _, root := range []string{"../client", "../clients", "../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.Name() == "node_modules":
				return fs.SkipDir
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			at := token.NewFileSet()
			file, err := parser.ParseFile(at, path, nil, parser.ParseComments)
			found[file] = at
			return err
		})
		must.OK(t, err)
	}
	return found
}
