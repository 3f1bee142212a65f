package document

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/test/generated"
	"ringback/test/must"
)

// The committed descriptions match the source. They are the comments of Go types that are encoded as
// JSON, and of the values of named strings.
func TestDescriptionsAreUpToDate(t *testing.T) {
	t.Parallel()
	all := described{map[string]typeDescription{}, map[string][]value{}}
	for _, dir := range []string{"web/api", "web/callback", "people/checkpoint", "web/hub", "job", "rules/lifecycle", "store", "../test/document"} {
		for _, file := range must.Get(filepath.Glob("../../internal/" + dir + "/*.go"))(t) {
			if !strings.HasSuffix(file, "_test.go") {
				all.file(must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t))
			}
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must.OK(t, enc.Encode(all))
	generated.File(t, "descriptions.json", out.String())
}

// described contains the comments, by "<package>.<type>".
type described struct {
	Types  map[string]typeDescription `json:"types"`
	Values map[string][]value         `json:"values"`
}

type typeDescription struct {
	Comment string            `json:"comment,omitempty"`
	Fields  map[string]string `json:"fields"`
}

// value is one of the values of a named string.
type value struct {
	Value   string `json:"value"`
	Comment string `json:"comment,omitempty"`
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
