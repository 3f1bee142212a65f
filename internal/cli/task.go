package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/spf13/cobra"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// changeKind is the default kind if only repositories are given.
const changeKind = "code-change"

// task is a code change to run, from flags or a YAML file, see docs/steering.md.
type task struct {
	Kind      string           `yaml:"kind" json:"-"`
	Prompt    string           `yaml:"prompt" json:"prompt"`
	Repos     []job.Repository `yaml:"repos" json:"repos"`
	Verifiers []job.Verifier   `yaml:"verifiers" json:"verifiers,omitempty"`
	// RequireApproval is nil if it is not given; the kind decides then.
	RequireApproval       *bool `yaml:"require_approval" json:"require_approval,omitempty"`
	MaxSteeringIterations int   `yaml:"max_steering_iterations" json:"max_steering_iterations,omitempty"`
	// Input contains further input of the kind.
	Input map[string]any `yaml:"input" json:"-"`
}

type taskFlags struct {
	file            string
	prompt          string
	repos           []string
	verifiers       []string
	requireApproval bool
	iterations      int
}

func (f taskFlags) given() bool { return f.file != "" || len(f.repos) > 0 }

// task returns the task of the flags. They take precedence over the file.
func (f taskFlags) task(cmd *cobra.Command) (task, error) {
	var t task
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return t, usagef("--file: %w", err)
		}
		if err := t.read(text); err != nil {
			return t, usagef("--file %s: %s", f.file, yamlFault(err))
		}
	}
	for _, repo := range f.repos {
		t.Repos = append(t.Repos, job.RepositoryOf(repo))
	}
	for _, text := range f.verifiers {
		v, err := job.VerifierOf(text)
		if err != nil {
			return t, usagef("--verifier: %w", err)
		}
		t.Verifiers = append(t.Verifiers, v)
	}
	if f.prompt != "" {
		t.Prompt = f.prompt
	}
	if cmd.Flags().Changed("require-approval") { // otherwise the file or the kind decides
		t.RequireApproval = &f.requireApproval
	}
	if f.iterations > 0 {
		t.MaxSteeringIterations = f.iterations
	}
	switch {
	case t.Prompt == "":
		return t, usagef("What should be changed? Describe it with --prompt, or as prompt: in the file")
	case len(t.Repos) == 0:
		return t, usagef("Where? Name a repository with --repo, or as repos: in the file")
	}
	return t, nil
}

func (t *task) read(text []byte) error {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(nil), yaml.Strict())
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return dec.Decode(t)
	}
	body := file.Docs[0].Body
	if fields, ok := body.(ast.MapNode); ok {
		for field := fields.MapRange(); field.Next(); {
			if field.Key().String() == "input" {
				var d digits
				if ast.Walk(&d, field.KeyValue()); d.err != nil {
					return d.err
				}
			}
		}
	}
	return dec.DecodeFromNode(body, t)
}

func yamlFault(err error) string {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok || wrong.StructFieldName == nil {
		return strings.Replace(oneLine(yaml.FormatError(err, false, false)), "] int was", "] number was", 1)
	}
	at := wrong.Token.Position
	return fmt.Sprintf("[%d:%d] %s is not %s", at.Line, at.Column, asWritten(*wrong.StructFieldName), plainType(wrong.DstType))
}

// capital matches the beginning of a word in a Go field name.
var capital = lazy.Regexp(`([a-z])([A-Z])`)

// asWritten returns a field's name as the file spells it.
func asWritten(field string) string {
	return strings.ToLower(capital().ReplaceAllString(field[strings.LastIndexByte(field, '.')+1:], "${1}_$2"))
}

func plainType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return plainType(t.Elem())
	}
	return cmp.Or(map[reflect.Kind]string{
		reflect.String: "a text", reflect.Int: "a whole number", reflect.Bool: "true or false", reflect.Slice: "a list",
	}[t.Kind()], "a mapping of names to values")
}

// isPath reports whether a repository is given by a path, not by an address. Like git, it looks for
// a colon before the first slash.
func isPath(url string) bool {
	before, _, _ := strings.Cut(url, "/")
	return !strings.Contains(before, ":")
}

func (t task) input() (json.RawMessage, error) {
	t.Repos = slices.Clone(t.Repos)
	for i, r := range t.Repos {
		if r.URL == "" {
			return nil, errors.New("a repository without url")
		}
		if isPath(r.URL) { // the server runs in another directory
			absolute, err := filepath.Abs(r.URL)
			if err != nil {
				return nil, err
			}
			t.Repos[i].URL = absolute
		}
	}
	all := map[string]any{}
	maps.Copy(all, t.Input)
	for name, value := range job.Members(job.MustJSON(t)) {
		all[name] = value
	}
	return job.MustJSON(all), nil
}

// digits makes the numbers of a YAML file decode with all of their digits. The YAML library supports
// only 64-bit numbers; it decodes longer ones as null, and 1e3 as text.
type digits struct {
	// err describes a value that would not be the number that is written.
	err error
}

// Visit implements [ast.Visitor].
func (d *digits) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.MappingValueNode:
		n.Value = d.kept(n.Value)
	case *ast.SequenceNode:
		for i, value := range n.Values {
			n.Values[i] = d.kept(value)
		}
	case *ast.AnchorNode:
		n.Value = d.kept(n.Value)
	case *ast.TagNode: // these make the library convert any value to a number
		if tag := token.ReservedTagKeyword(n.Start.Value); tag == token.IntegerTag || tag == token.FloatTag {
			d.refuse(n)
		}
	}
	return d
}

var jsonNumber = lazy.Regexp(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// kept returns a json.Number for a value that is a number in JSON. It leaves texts and the whole
// numbers that only YAML knows, such as 0x1f and 1_000.
func (d *digits) kept(node ast.Node) ast.Node {
	at := node.GetToken()
	if at.Type == token.SingleQuoteType || at.Type == token.DoubleQuoteType {
		return node
	}
	if text := strings.TrimPrefix(at.Value, "+"); jsonNumber().MatchString(text) {
		return &ast.IntegerNode{BaseNode: &ast.BaseNode{}, Token: at, Value: json.Number(text)}
	}
	switch n := node.(type) {
	case *ast.IntegerNode:
		if n.Value == nil {
			d.refuse(n)
		}
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		d.refuse(n)
	}
	return node
}

func (d *digits) refuse(node ast.Node) {
	at := node.GetToken()
	d.err = fmt.Errorf(
		"[%d:%d] %s: found %s; write a number as in JSON, such as -12.5 or 1e3", at.Position.Line, at.Position.Column,
		strings.TrimPrefix(node.GetPath(), "$."), Quoted(at.Value),
	)
}
