package document

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"ringback/internal/text/lazy"
)

// descriptions contains the comments of the source: of Go types that are encoded as JSON, and of the values of named
// strings.
var descriptions = sync.OnceValue(func() described {
	all := described{map[string]typeDescription{}, map[string][]value{}}
	for _, dir := range []string{
		"internal/web/api", "internal/web/callback", "internal/people/checkpoint", "internal/web/hub", "internal/job",
		"internal/rules/lifecycle", "internal/store", "test/document",
	} {
		files, err := filepath.Glob(filepath.Join(root(), dir, "*.go"))
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			var syntax *ast.File
			if syntax, err = parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments); err != nil {
				break
			}
			all.file(syntax)
		}
		if err != nil || files == nil {
			panic(fmt.Sprintf("document: the source in %s cannot be read: %v", dir, err))
		}
	}
	return all
})

// root returns the directory of the module: tests start in that of their package.
func root() string {
	dir := "."
	for _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil; _, err = os.Stat(filepath.Join(dir, "go.mod")) {
		dir = filepath.Join("..", dir)
	}
	return dir
}

// described contains the comments, by "<package>.<type>".
type described struct {
	Types  map[string]typeDescription
	Values map[string][]value
}

type typeDescription struct {
	Comment string
	Fields  map[string]string
}

// value is one of the values of a named string.
type value struct {
	Value   string
	Comment string
}

func (d described) file(syntax *ast.File) {
	for _, declaration := range syntax.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				comment := spec.Doc
				if comment == nil && len(group.Specs) == 1 {
					comment = group.Doc
				}
				d.structure(syntax.Name.Name+"."+spec.Name.Name, spec.Type, comment)
			case *ast.ValueSpec:
				if group.Tok == token.CONST {
					d.constant(syntax.Name.Name, spec)
				}
			}
		}
	}
}

// structure records the comments of a struct that has JSON tags.
func (d described) structure(name string, of ast.Expr, comment *ast.CommentGroup) {
	structure, ok := of.(*ast.StructType)
	if !ok {
		return
	}
	fields := map[string]string{}
	isJSON := false
	for _, field := range structure.Fields.List {
		if field.Tag == nil || !strings.Contains(field.Tag.Value, `json:"`) {
			continue
		}
		isJSON = true
		for _, ident := range field.Names {
			if text := textOf(field.Doc, field.Comment); text != "" {
				fields[ident.Name] = text
			}
		}
	}
	if isJSON {
		d.Types[name] = typeDescription{textOf(comment), fields}
	}
}

// constant records a value of a named string.
func (d described) constant(pkg string, spec *ast.ValueSpec) {
	named, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil || text == "" || ast.IsExported(named.Name) != ast.IsExported(spec.Names[0].Name) {
		return
	}
	comment := strings.TrimPrefix(textOf(spec.Doc, spec.Comment), spec.Names[0].Name+" ")
	key := pkg + "." + named.Name
	d.Values[key] = append(d.Values[key], value{text, comment})
}

// textOf returns the first comment that is not empty, on one line.
func textOf(groups ...*ast.CommentGroup) string {
	for _, group := range groups {
		if text := group.Text(); text != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

func keyOf(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + plainName(t) }

func plainName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// commentOf returns the comment of a type or of one of its fields, reworded in terms of the
// JSON names.
func commentOf(t reflect.Type, field string) string {
	of := descriptions().Types[keyOf(t)]
	if field == "" {
		return inJSONNames(worded(of.Comment, plainName(t), ""), t)
	}
	f, _ := t.FieldByName(field)
	return inJSONNames(worded(of.Fields[field], field, tagName(f)), t)
}

func tagName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// goName matches the names of fields within a sentence, and anywhere those that are no plain words.
var goName = lazy.Regexp(`[a-z,;] [A-Z][a-z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z][a-z]+ (?:is|are)\b`)

// inJSONNames replaces the names of a struct's fields in a text by those in JSON.
func inJSONNames(text string, t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return text
	}
	return goName().ReplaceAllStringFunc(text, func(found string) string {
		start := strings.IndexFunc(found, unicode.IsUpper)
		name, rest, spaced := strings.Cut(found[start:], " ")
		if f, ok := t.FieldByName(name); ok && tagName(f) != "" && tagName(f) != "-" {
			name = "`" + tagName(f) + "`"
		}
		if spaced {
			name += " " + rest
		}
		return found[:start] + name
	})
}

// worded removes the Go name from the beginning of a comment.
func worded(comment, goName, jsonName string) string {
	rest, begins := strings.CutPrefix(comment, goName+" ")
	if !begins {
		return comment
	}
	for _, verb := range []string{"is ", "are "} {
		if said, ok := strings.CutPrefix(rest, verb); ok {
			return capital(said)
		}
	}
	if jsonName == "" {
		return capital(rest)
	}
	return "`" + jsonName + "` " + rest
}

func camelCase(text, separator string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(text, separator) {
		name.WriteString(capital(word))
	}
	return name.String()
}

func capital(text string) string {
	for i, first := range text {
		return string(unicode.ToUpper(first)) + text[i+len(string(first)):]
	}
	return text
}

//go:embed examples.json
var examplesJSON []byte

// exchange is a request and its response, as recorded by a test.
type exchange struct {
	Request json.RawMessage `json:"request"`
	Status  int             `json:"status"`
	Answer  json.RawMessage `json:"answer"`
}

// recorded contains the examples that test/contract recorded from a real server: requests
// and responses by the names of operations, and messages by their names.
var recorded = sync.OnceValue(func() (all struct {
	Operations map[string]exchange        `json:"operations"`
	Messages   map[string]json.RawMessage `json:"messages"`
},
) {
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("document: " + err.Error()) // the file is embedded in the program
	}
	return all
})
