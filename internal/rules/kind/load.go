package kind

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
	"ringback/internal/text/lazy"
	"ringback/prompts"
	"ringback/schemas"
)

// Source is a place from which kinds are loaded.
type Source struct {
	// Prompts holds <kind>.md, Schemas <kind>.input.json and <kind>.result.json; either
	// may be nil.
	Prompts, Schemas fs.FS
	Dir              string // The absolute path of the prompts on this machine; empty if they are built in.
	// PromptsName and SchemasName are prepended to file names in problems.
	PromptsName, SchemasName string
}

// Load reads all kinds. A later source adds to the earlier ones, and replaces files of
// the same name. Load returns the problems of all files together; the registry contains
// the kinds that have none.
func Load(sources ...Source) (*Registry, []Problem) {
	l := loader{prompts: map[string]file{}, schemas: map[string]file{}}
	for _, s := range sources {
		l.collect(s.Prompts, s.PromptsName, s.Dir, ".md", l.prompts)
		l.collect(s.Schemas, s.SchemasName, "", ".json", l.schemas)
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
	schema.SortProblems(l.problems)
	return registry, l.problems
}

// Builtin returns the source of the built-in kinds.
func Builtin() Source {
	return Source{Prompts: prompts.FS, Schemas: schemas.FS, PromptsName: "prompts", SchemasName: "schemas"}
}

type file struct {
	path string
	dir  string // base of the relative paths in it; empty for none
	text []byte
}

type loader struct {
	prompts, schemas map[string]file
	problems         []Problem
}

func (l *loader) add(path string, problems []Problem) {
	for _, p := range problems {
		p.File = path
		l.problems = append(l.problems, p)
	}
}

func (l *loader) problem(path string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) collect(from fs.FS, place, dir, suffix string, into map[string]file) {
	if from == nil {
		return
	}
	entries, err := fs.ReadDir(from, ".")
	if errors.Is(err, fs.ErrNotExist) {
		const hint = "PROMPTS_DIR and SCHEMAS_DIR name those of your kinds, as seen from where the server is started."
		l.add(place, []Problem{{Message: "there is no such directory", Hint: hint}})
		return
	}
	if err != nil {
		l.problem(place, 0, "the directory cannot be read: %v", err)
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, suffix) || strings.HasPrefix(name, ".") || name == "README.md" {
			continue
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			l.problem(path.Join(place, name), 0, "the file cannot be read: %v", err)
			continue
		}
		into[name] = file{path.Join(place, name), dir, text}
	}
}

var kindName = lazy.Regexp(`^[a-z][a-z0-9-]{0,62}$`)

func (l *loader) kind(name string, prompt file) *Kind {
	if !kindName().MatchString(name) {
		l.problem(prompt.path, 0, "%q is not a valid name for a kind: use only lower-case letters, digits and -, beginning with a letter", name)
	}
	policy, body, bodyLine, problems := ParsePrompt(prompt.text)
	l.add(prompt.path, problems)
	if body == "" && len(problems) == 0 {
		l.problem(prompt.path, bodyLine, "the prompt is empty: there is nothing below the front matter")
	}
	k := &Kind{
		Name: name, File: prompt.path, Dir: prompt.dir, Policy: policy.withDefaults(name), Prompt: body,
		Input: l.schema(name + inputSuffix), Result: l.schema(name + resultSuffix),
	}
	k.Definition = l.define(name, prompt)
	k.Version = job.Digest(k.Definition)
	l.add(prompt.path, checkTemplate(k, bodyLine))
	l.add(prompt.path, checkTitle(k, prompt.text))
	l.add(prompt.path, checkPrograms(k))
	l.add(prompt.path, checkTools(k))
	l.add(prompt.path, checkChecks(k))
	return k
}

// The suffixes of a kind's schema files.
const (
	inputSuffix  = ".input.json"
	resultSuffix = ".result.json"
)

const anyObject = `{"type": "object"}`

// schema compiles a file; it returns nil if the file cannot be used. A kind without the file
// accepts any object.
func (l *loader) schema(name string) *schema.Schema {
	f, ok := l.schemas[name]
	if !ok {
		f = file{name, "", []byte(anyObject)}
	}
	s, problems := schema.CompileObject(f.text)
	for i := range problems {
		problems[i].Unreadable = s == nil
	}
	l.add(f.path, problems)
	return s
}

// checkOrphans finds schemas that belong to no kind, most likely because of a misspelt
// name.
func (l *loader) checkOrphans() {
	for name, f := range l.schemas {
		kind, ok := strings.CutSuffix(name, inputSuffix)
		if !ok {
			kind, ok = strings.CutSuffix(name, resultSuffix)
		}
		if !ok {
			l.problem(f.path, 0, "its name ends neither in .input.json nor in .result.json")
		} else if _, known := l.prompts[kind+".md"]; !known {
			l.problem(f.path, 0, "there is no prompt %s.md for it", kind)
		}
	}
}
