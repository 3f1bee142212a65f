package kind

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"ringback/internal/text/lazy"
)

// fence is the line before and after the front matter.
const fence = "---"

// ParsePrompt splits a prompt file into its policy and its body. bodyLine is the first
// line of the body. Problems contain lines of the file, but no file name. The policy is
// as written, without defaults.
func ParsePrompt(text []byte) (policy Policy, body string, bodyLine int, problems []Problem) {
	front, body, bodyLine, closed := splitFrontMatter(text)
	if !closed {
		return Policy{}, "", 1, []Problem{{
			Line: 1, Message: "the front matter is not closed", Unreadable: true,
			Hint: "End it with a line of three dashes, or delete the first line.",
		}}
	}
	policy, problems = parsePolicy(front)
	return policy, body, bodyLine, problems
}

// splitFrontMatter separates the text between the first two lines of "---". A text that
// does not begin with one has no front matter.
func splitFrontMatter(text []byte) (front, body string, bodyLine int, closed bool) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(text), "\uFEFF"), "\r\n", "\n"), "\n")
	begin := 0
	if isFence(lines[0]) {
		end := slices.IndexFunc(lines[1:], isFence)
		if end < 0 {
			return "", "", 1, false
		}
		front, begin = strings.Join(lines[1:1+end], "\n"), end+2
	}
	for begin < len(lines) && strings.TrimSpace(lines[begin]) == "" {
		begin++
	}
	return front, strings.TrimSpace(strings.Join(lines[begin:], "\n")), begin + 1, true
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == fence }

// parsePolicy reads each key separately, so that it can report all problems together.
func parsePolicy(front string) (policy Policy, problems []Problem) {
	file, err := parser.ParseBytes([]byte(front), 0)
	if err != nil {
		return Policy{}, []Problem{yamlProblem(err, 1)}
	}
	for i, document := range file.Docs {
		entries, ok := document.Body.(*ast.MappingNode)
		switch {
		case document.Body == nil || document.Body.Type() == ast.CommentType:
		case !ok || i > 0:
			problems = append(problems, Problem{
				Line: document.Body.GetToken().Position.Line + 1, Message: "the front matter must be one YAML mapping",
				Hint: "Write lines such as \"description: Plans meals\".", Unreadable: true,
			})
		default:
			problems = append(problems, policy.read(entries)...)
		}
	}
	return policy, problems
}

func (p *Policy) read(entries *ast.MappingNode) (problems []Problem) {
	for _, entry := range entries.Values {
		key, line := entry.Key.String(), entry.Key.GetToken().Position.Line+1
		switch i := slices.IndexFunc(policyFields, func(f reflect.StructField) bool { return policyKey(f) == key }); {
		case i < 0:
			var known []string
			for _, f := range policyFields {
				known = append(known, policyKey(f))
			}
			problems = append(problems, Problem{
				Line: line, Message: key + " is not a known key", Hint: "Known keys: " + strings.Join(known, ", ") + ".", Unreadable: true,
			})
		case entry.Value.Type() == ast.NullType: // "key:" without a value counts as absent
		default:
			if problem, bad := p.readField(entry, key, policyFields[i].Type); bad {
				problems = append(problems, problem)
			} else if key == "actions" {
				problems = append(problems, p.actionProblems(entry.Value)...)
			} else if key == "check" {
				problems = append(problems, p.checkProblems(entry.Value)...)
			} else if fault := p.fault(policyFields[i]); fault != "" {
				unreadable := key == "tools" && !p.Tools.Readable() // without one rule, the others may allow more
				problems = append(problems, Problem{Line: line, Message: key + ": " + fault, Unreadable: unreadable})
			}
		}
	}
	return problems
}

func itemsOf(list ast.Node) []ast.Node {
	if sequence, ok := list.(*ast.SequenceNode); ok {
		return sequence.Values
	}
	return nil
}

// lineOf returns the line of a part of the front matter in the file. path consists of
// keys and, in lists, of numbers from 0. If a part is missing, lineOf returns the line
// of its parent. The first fence is line 1.
func lineOf(n ast.Node, path ...string) int {
	if n == nil {
		return 0
	}
	line := n.GetToken().Position.Line
	if mapping, ok := n.(ast.MapNode); ok {
		if entries := mapping.MapRange(); entries.Next() { // a mapping's own token is after its first key
			line = entries.Key().GetToken().Position.Line
		}
	}
	for _, key := range path {
		next, at := child(n, key)
		if next == nil {
			break
		}
		n, line = next, at
	}
	return line + 1
}

func child(n ast.Node, key string) (part ast.Node, line int) {
	if mapping, ok := n.(ast.MapNode); ok {
		for entries := mapping.MapRange(); entries.Next(); {
			if entries.Key().String() == key {
				return entries.Value(), entries.Key().GetToken().Position.Line
			}
		}
		return nil, 0
	}
	items := itemsOf(n)
	if i, err := strconv.Atoi(key); err == nil && i < len(items) {
		return items[i], items[i].GetToken().Position.Line
	}
	return nil, 0
}

func (p *Policy) readField(entry *ast.MappingValueNode, key string, field reflect.Type) (Problem, bool) {
	line := entry.Key.GetToken().Position.Line
	found := strings.TrimSpace(entry.Value.String())
	if field == reflect.TypeFor[time.Duration]() && found == "0" { // the only duration that needs no unit
		return Problem{}, false
	}
	err := yaml.NodeToValue(entry, p, yaml.Strict(), yaml.UseOrderedMap())
	if err == nil && entry.Value.Type() == ast.FloatType && (field.Kind() == reflect.Int || field == reflect.TypeFor[*int]()) {
		err = fmt.Errorf("found %s; expected a whole number", found) // it would lose its fraction
	}
	if err == nil {
		return Problem{}, false
	}
	problem := yamlProblem(err, line)
	problem.Message = key + ": " + problem.Message
	return problem, true
}

// policyFields are the fields of Policy, which are the keys of the front matter.
var policyFields = reflect.VisibleFields(reflect.TypeFor[Policy]())

func policyKey(field reflect.StructField) string { return field.Tag.Get("yaml") }

// yamlProblem converts an error of the YAML library. line is its position in the front
// matter if the error itself has none. The first fence is line 1 of the file.
func yamlProblem(err error, line int) Problem {
	message, found := err.Error(), ""
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		message = positioned.GetMessage()
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			line, found = t.Position.Line, t.Value
		}
	}
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	return Problem{Line: line + 1, Message: yamlWords(message, found), Unreadable: true}
}

var (
	wrongYAMLType  = lazy.Regexp(`^cannot unmarshal (\S.*) into Go (?:struct field \S+|value) of type (\S.*)$`)
	wrongYAMLShape = lazy.Regexp(`^(\w+) was used where (\w+) is expected$`)
	wrongDuration  = lazy.Regexp(`^time: .*duration (".*")$`)
	unknownKey     = lazy.Regexp(`^unknown field (".*")$`)
)

// yamlWords rewords messages of the YAML library that use Go terms. found is the value.
func yamlWords(message, found string) string {
	for _, pattern := range []*regexp.Regexp{wrongYAMLType(), wrongYAMLShape()} {
		if m := pattern.FindStringSubmatch(message); m != nil {
			if what, structured := yamlType(m[1]); structured {
				found = what
			}
			expected, _ := yamlType(m[2])
			return "found " + shorten(found) + "; expected " + expected
		}
	}
	if m := wrongDuration().FindStringSubmatch(message); m != nil {
		return "found " + m[1] + "; expected a duration such as 90s or 5m"
	}
	if m := unknownKey().FindStringSubmatch(message); m != nil {
		return m[1] + " is not a known key"
	}
	return message
}

// yamlType describes a type of Go or of the YAML library. structured is true for lists and mappings.
func yamlType(name string) (words string, structured bool) {
	switch {
	case name == "time.Duration":
		return "a duration such as 90s or 5m", false
	case strings.HasPrefix(name, "[]"), name == "sequence":
		return "a list", true
	case strings.HasPrefix(name, "map["), name == "mapping", name == "yaml.MapSlice":
		return "a mapping (key: value)", true
	case name == "bool", name == "boolean":
		return "true or false", false
	case strings.HasPrefix(name, "float"):
		return "a number", false
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number", false
	case name == "string", strings.Contains(name, "."): // such as kind.Callback
		return "text", false
	}
	return name, false
}
