package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Problem is something wrong with a kind's files.
type Problem struct {
	File    string
	Line    int // 1 for the first; 0 when it is about the file as a whole
	Message string
}

// Error returns "file:line: message".
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Source is one place where kinds come from.
type Source struct {
	// Prompts holds <kind>.md, Schemas <kind>.input.json and <kind>.result.json;
	// either may be nil.
	Prompts, Schemas fs.FS
	// PromptsName and SchemasName stand before file names in problems.
	PromptsName, SchemasName string
}

// Load reads all kinds. A later source adds to the earlier ones, and replaces
// files of the same name. The problems of all files are returned together; the
// registry holds the kinds that have none.
func Load(sources ...Source) (*Registry, []Problem) {
	l := loader{prompts: map[string]file{}, schemas: map[string]file{}}
	for _, s := range sources {
		l.collect(s.Prompts, s.PromptsName, ".md", l.prompts)
		l.collect(s.Schemas, s.SchemasName, ".json", l.schemas)
	}
	registry := &Registry{kinds: map[string]*Kind{}}
	for name, prompt := range l.prompts {
		before := len(l.problems)
		k := l.kind(strings.TrimSuffix(name, ".md"), prompt)
		if len(l.problems) == before {
			registry.kinds[k.Name] = k
		}
	}
	l.checkOrphans()
	slices.SortFunc(l.problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return registry, l.problems
}

// Join makes one error of problems; nil when there are none.
func Join(problems []Problem) error {
	faults := make([]error, len(problems))
	for i, p := range problems {
		faults[i] = p
	}
	return errors.Join(faults...)
}

type file struct {
	path string
	text []byte
}

type loader struct {
	prompts, schemas map[string]file
	problems         []Problem
}

func (l *loader) problem(path string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) collect(from fs.FS, place, suffix string, into map[string]file) {
	if from == nil {
		return
	}
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		l.problem(place, 0, "the directory cannot be read: %v", err)
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, suffix) || strings.HasPrefix(name, ".") || name == "README.md" {
			continue
		}
		path := strings.TrimSuffix(place, "/") + "/" + name
		text, err := fs.ReadFile(from, name)
		if err != nil {
			l.problem(path, 0, "the file cannot be read: %v", err)
			continue
		}
		into[name] = file{path, text}
	}
}

var kindName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

func (l *loader) kind(name string, prompt file) *Kind {
	if !kindName.MatchString(name) {
		l.problem(prompt.path, 0, "%q is no name for a kind: small letters, digits and - only, beginning with a letter", name)
	}
	policy, body, bodyLine, problems := ParsePrompt(prompt.text)
	for _, p := range problems {
		p.File = prompt.path
		l.problems = append(l.problems, p)
	}
	k := &Kind{
		Name: name, Policy: policy.withDefaults(name), Prompt: body,
		Input: l.schema(name + ".input.json"), Result: l.schema(name + ".result.json"),
	}
	for _, p := range checkTemplate(k, bodyLine) {
		p.File = prompt.path
		l.problems = append(l.problems, p)
	}
	return k
}

func (l *loader) schema(name string) *Schema {
	f, ok := l.schemas[name]
	if !ok {
		f = file{name, []byte(anyObject)}
	}
	s, err := NewSchema(name, f.text)
	if err == nil {
		return s
	}
	line := 0
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line = lineAt(f.text, int(syntax.Offset))
	case errors.As(err, &wrongType):
		line = lineAt(f.text, int(wrongType.Offset))
	default:
		line = lineOfFault(f.text, err)
	}
	l.problem(f.path, line, "%s", schemaMessage(err))
	return nil
}

// checkOrphans finds schemas that belong to no kind: most likely a misspelt name.
func (l *loader) checkOrphans() {
	for name, f := range l.schemas {
		kind, ok := strings.CutSuffix(name, ".input.json")
		if !ok {
			kind, ok = strings.CutSuffix(name, ".result.json")
		}
		if !ok {
			l.problem(f.path, 0, "its name ends neither in .input.json nor in .result.json")
		} else if _, known := l.prompts[kind+".md"]; !known {
			l.problem(f.path, 0, "there is no prompt %s.md for it", kind)
		}
	}
}

func lineAt(text []byte, offset int) int {
	return bytes.Count(text[:min(max(offset, 0), len(text))], []byte("\n")) + 1
}
