package test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
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
	// most is how often it may occur in 10,000 words, about as often as in the comments of well-known Go
	// projects.
	most    float64
	instead string
}

var stiltedPhrases = []stilted{
	{regexp.MustCompile(`\b(is|are) (that|whether|how|who|what|when|until when|why)\b`), 6, `"returns", "reports whether", "is true if", "is returned when"`},
	{regexp.MustCompile(`\bwhere\b`), 6, `"if" for a condition, "when" for a time`},
	{regexp.MustCompile(`\b(says|said|(they|to|that|which|not) say)\b`), 2, `"returns", "reports", "describes", "contains"`},
	{regexp.MustCompile(`\b(tell|tells|told)\b`), 3, `"notify", "report", "distinguish"`},
	{regexp.MustCompile(`\b(whoever|whom|whose|who)\b`), 6, "the name of the subject: the caller, the client, the node, the user"},
	{regexp.MustCompile(`\b(stands?|stood|lies?|lay)\b[^-]`), 2, `"is", or what happens`},
	{regexp.MustCompile(`\b(nobody|somebody|everybody|anybody)\b`), 1, `"no client", "no one", "another user"`},
	{regexp.MustCompile(`\b(anew|beside|besides|meanwhile|gone on|goes on|of its own)\b`), 2, `"again", "next to", "continues", "separate"`},
	{regexp.MustCompile(`\b(by now|not in order|any ?more|lets? through|leads? nowhere|not get through)\b`), 3, "the usual word"},
	{regexp.MustCompile(`\b(it|that|this|which|%q|%s) is no \w`), 2, `"is not a"`},
	{regexp.MustCompile(`: want |%s wants `), 1, `"must be", ": expected"`},
	{regexp.MustCompile(`, for (it|they|no|neither|an?|the) (\w+ )?(is|are|has|have|would|must|could)\b`), 1, `"because"`},
}

// Comments, messages (errors, logs, help) and the descriptions of the API keep to the phrases of the field.
// The last two are short, so one place more or less counts for more: they may have twice as many.
func TestCommentsAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	inPlainEnglish(t, "comments", comments(t), 1)
	inPlainEnglish(t, "messages", messages(t), 2)
	inPlainEnglish(t, "descriptions", descriptions(t), 2)
}

func inPlainEnglish(t *testing.T, name string, texts iter.Seq2[string, string], times float64) {
	t.Helper()
	words, places := 0, make([][]string, len(stiltedPhrases))
	for place, text := range texts {
		words += len(strings.Fields(text))
		for i, s := range stiltedPhrases {
			for range s.phrase.FindAllString(text, -1) {
				places[i] = append(places[i], place+": "+text)
			}
		}
	}
	for i, s := range stiltedPhrases {
		if most := int(times * s.most * float64(words) / 10_000); len(places[i]) > most {
			slices.Sort(places[i])
			t.Errorf("%v is in %d places of %d words of %s; at most %d may have it. Write %s.\n%s",
				s.phrase, len(places[i]), words, name, most, s.instead, strings.Join(places[i], "\n"))
		}
	}
}

// Messages and descriptions do not contain these at all.
func TestMessagesAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`(?i)\b(whoever|whom|nobody|somebody|everybody|anybody|anew|beside|gone on|goes on|stands|lies)\b`)
	for _, texts := range []iter.Seq2[string, string]{messages(t), descriptions(t)} {
		for place, text := range texts {
			if found := forbidden.FindString(text); found != "" {
				t.Errorf("%s: %q is in %s", place, found, text)
			}
		}
	}
}

// comments returns the comments of the project, by place.
func comments(t *testing.T) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for file, at := range sources(t) {
			for _, group := range file.Comments {
				for _, c := range group.List {
					if !strings.HasPrefix(c.Text, "//go:") && !strings.Contains(c.Text, "nolint") {
						yield(fmt.Sprint(at.Position(c.Pos())), c.Text)
					}
				}
			}
		}
	}
}

// messages returns the string literals of the project that are sentences or parts of some, by place.
func messages(t *testing.T) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for file, at := range sources(t) {
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(strings.TrimSpace(text), " ") {
						yield(fmt.Sprint(at.Position(lit.Pos())), text)
					}
				}
				return true
			})
		}
	}
}

// descriptions returns the texts of the generated contracts, by place.
func descriptions(t *testing.T) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{}
		inContracts(t, func(place string, part map[string]any) {
			for _, key := range []string{"summary", "description"} {
				if text, _ := part[key].(string); text != "" && !seen[text] {
					seen[text] = true
					yield(place, text)
				}
			}
		})
	}
}

// ofKinds matches the places of the schemas of kinds, which their authors describe.
var ofKinds = regexp.MustCompile(`/schemas/(NewJob\.)?(code-change|media|meal-suggestions|ship)\b`)

// described are fields of internal/rules/lifecycle whose comments are still missing.
var described = map[string]bool{"ActionData.tool": true, "ActionData.message": true, "ActionData.runId": true, "StateData.maxAttempts": true}

// Every field of a request, a response or an event has a description, and so has every parameter. None uses
// the names of Go, which callers do not know.
func TestEveryFieldOfTheAPIIsDescribed(t *testing.T) {
	t.Parallel()
	inContracts(t, func(place string, part map[string]any) {
		properties, _ := part["properties"].(map[string]any)
		for name, of := range properties {
			text := string(must.Get(json.Marshal(of))(t))
			if !strings.Contains(text, `"description":`) && !strings.Contains(text, `"$ref":`) && !ofKinds.MatchString(place) && !described[path.Base(place)+"."+name] {
				t.Errorf("%s: the field %s has no description: write a comment for its Go field", place, name)
			}
		}
		if in, _ := part["in"].(string); part["schema"] != nil && in != "" && part["description"] == nil {
			t.Errorf("%s: the parameter %v has no description", place, part["name"])
		}
	})
	for place, text := range descriptions(t) {
		if name := regexp.MustCompile(`\b(?:[A-Z][a-z]+)+(?:ID|URL|USD|HMAC)\b`).FindString(text); name != "" {
			t.Errorf("%s: the description uses %s, a name of Go: %s", place, name, text)
		}
	}
}

// inContracts calls visit with each object of the generated contracts, and its place; examples are left out.
func inContracts(t *testing.T, visit func(place string, part map[string]any)) {
	t.Helper()
	var walk func(place string, of any)
	walk = func(place string, of any) {
		switch of := of.(type) {
		case map[string]any:
			visit(place, of)
			for name, child := range of {
				if name != "example" && name != "examples" && name != "default" {
					walk(place+"/"+name, child)
				}
			}
		case []any:
			for _, child := range of {
				walk(place, child)
			}
		}
	}
	for _, file := range []string{"openapi.json", "asyncapi.json"} {
		var document any
		must.OK(t, json.Unmarshal(must.Get(os.ReadFile("../docs/"+file))(t), &document))
		walk(file, document)
	}
}

// sources returns the Go files of the project that are not tests, parsed.
func sources(t *testing.T) map[*ast.File]*token.FileSet {
	t.Helper()
	found := map[*ast.File]*token.FileSet{}
	for _, root := range []string{"../client", "../clients", "../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.Name() == "node_modules":
				return fs.SkipDir
			case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			at := token.NewFileSet()
			syntax, err := parser.ParseFile(at, file, nil, parser.ParseComments)
			found[syntax] = at
			return err
		})
		must.OK(t, err)
	}
	return found
}
