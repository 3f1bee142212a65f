package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/text/spelling"
)

const (
	draft = "https://json-schema.org/draft/2020-12/schema"
	// schemaURL is the URL of the document while it is compiled.
	schemaURL = "ringback:///schema.json"
)

// compile compiles a schema. Problems have a line, but no file. The schema is nil only if it cannot be
// used; what else is wrong with it is for its author.
func compile(source []byte) (*Schema, []Problem) {
	root, problems := parseDocument(source)
	if len(problems) > 0 {
		return nil, problems
	}
	s := newSchema(source, root)
	if problems := s.faults(); len(problems) > 0 {
		return nil, problems
	}
	var err error
	if s.compiled, err = compileSource(source); err != nil {
		return nil, s.compileProblems(err)
	}
	shown := s.withoutReadOnly(root)
	if problems = s.mistakes(); len(problems) == 0 {
		problems = newSchema(nil, shown).faults()
		for i := range problems {
			problems[i].Hint = "Claude is not shown properties that are readOnly: refer to a part under $defs that is not."
		}
	}
	s.forClaude = shown.json()
	s.items = s.itemSchemas()
	return s, problems
}

func compileSource(source []byte) (compiled *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on some invalid schemas
			err = errors.New("it cannot be compiled")
		}
	}()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.ExtractAnnotations = true // readOnly and default
	c.LoadURL = func(ref string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside of this file", ref)
	}
	if err := c.AddResource(schemaURL, bytes.NewReader(source)); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// faults returns errors that the compiler would accept, or report without a line.
func (s *Schema) faults() []Problem {
	if _, ok := s.root.value.(map[string]any); !ok {
		return []Problem{{Line: s.root.line, Message: "is not a JSON Schema: found " + typed(s.root.value) + "; expected an object"}}
	}
	var problems []Problem
	if version := s.root.Get("$schema"); version != nil && strings.TrimSuffix(version.Text(), "#") != draft {
		problems = append(problems, Problem{
			Line: version.line, Message: "$schema is " + shorten(compact(version.value)) + "; only draft 2020-12 is understood",
			Hint: "Write " + draft + ", or leave $schema out.",
		})
	}
	s.root.walk(func(name string, n *Node) bool {
		if name == "$ref" && n.Text() != "" {
			problems = append(problems, s.refFault(n)...)
		}
		return !slices.Contains([]string{"const", "enum", "default", "examples"}, name) // those hold data, not a schema
	})
	return problems
}

func (s *Schema) refFault(ref *Node) []Problem {
	target := s.local(ref.Text())
	switch {
	case strings.HasPrefix(target, "#"):
		if s.referred(target) != nil {
			return nil
		}
		return []Problem{{
			Line: ref.line, Message: fmt.Sprintf("$ref %q cannot be resolved", ref.Text()),
			Hint: "Name a part of this file, such as #/$defs/<name>.",
		}}
	case s.hasID(target) || target == draft:
		return nil
	}
	return []Problem{{
		Line: ref.line, Message: fmt.Sprintf("$ref %q refers to another file", target),
		Hint: "Nothing is fetched: copy that schema under $defs and refer to #/$defs/<name>.",
	}}
}

// hasID reports whether the reference is, up to its fragment, the $id of a part
// of this document.
func (s *Schema) hasID(ref string) bool {
	url, _, _ := strings.Cut(ref, "#")
	found := s.root.Get("$id").Is(url)
	s.root.walk(func(_ string, n *Node) bool {
		found = found || n.Get("$id").Is(url)
		return !found
	})
	return found
}

func (s *Schema) compileProblems(err error) []Problem {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		text := err.Error()
		if wrapped, ok := errors.AsType[*jsonschema.SchemaError](err); ok {
			text = wrapped.Err.Error()
		}
		text = strings.ReplaceAll(strings.TrimPrefix(text, "jsonschema: "), schemaURL, "")
		return []Problem{{Line: s.root.line, Message: "is not a usable JSON Schema: " + text}}
	}
	return s.metaProblems(leaves(invalid))
}

// metaProblems returns one problem for each invalid place; several messages about one place
// are alternatives.
func (s *Schema) metaProblems(faults []*jsonschema.ValidationError) []Problem {
	messages := map[string][]string{}
	for _, fault := range faults {
		path := plainPointer(fault.InstanceLocation)
		if !slices.Contains(messages[path], fault.Message) {
			messages[path] = append(messages[path], fault.Message)
		}
	}
	var problems []Problem
	for path, found := range messages {
		at := s.root.nearest(path)
		problems = append(problems, Problem{
			Line: at.line, Message: "is not a JSON Schema: at " + path + ": " + strings.Join(found, ", or "),
			Hint: "Found " + typed(at.value) + "." + meantType(path, at),
		})
	}
	SortProblems(problems)
	return problems
}

var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func meantType(path string, at *Node) string {
	if !strings.HasSuffix(path, "/type") || at.Text() == "" {
		return ""
	}
	if meant := spelling.Nearest(at.Text(), types); meant != "" {
		return " Did you mean \"" + meant + "\"?"
	}
	return ""
}

func leaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(err.Causes) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	var found []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		found = append(found, leaves(cause)...)
	}
	return found
}
