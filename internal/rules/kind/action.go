package kind

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/schema"
	"ringback/internal/text/lazy"
)

// Action is something that the server does for Claude, and that a person may have to
// allow first: see "Actions: confirm before execute" in docs/permissions.md.
type Action struct {
	Name string `yaml:"name"` // The action's name in calls: /api/claude/actions/<name>.
	// Description describes to Claude what it does and when to use it.
	Description string       `yaml:"description"`
	Title       string       `yaml:"title"` // The heading that people see; default the name.
	Input       SchemaSource `yaml:"input"` // The JSON Schema of its input, an object.
	// Confirm determines when a person must allow it: always (default), never, or "when:
	// <expression>" over the input, such as "when: input.amount > 100".
	Confirm  string `yaml:"confirm"`
	Question string `yaml:"question"` // The question to the person; {{input.<field>}} is filled in.
	// Yes and No are the two answers.
	Yes Choice `yaml:"yes"`
	No  Choice `yaml:"no"`
	// Program performs it. If Webhook is set, it is called with the input instead.
	Program  `yaml:",inline"`
	Webhook  string       `yaml:"webhook"`
	Writable []string     `yaml:"writable"` // As Readable, for paths that the command can also write.
	Limits   limit.Limits `yaml:"limits"`   // The command's resource limits; the default is those of the kind.
	// Timeout limits how long it may run; default 5 minutes.
	Timeout time.Duration `yaml:"timeout"`
	// Preview shows what the action would do before a person allows it; nil for none.
	Preview *Preview `yaml:"preview"`

	schema  *schema.Schema
	confirm approval.Confirm
	node    ast.Node // its position in the file
	label   string   // its name, or else its number in the list

	problems []Problem
}

// RunsCommand reports whether the action or its preview runs a command, in the job's directory.
func (a *Action) RunsCommand() bool {
	return a.Webhook == "" || a.Preview != nil && a.Preview.Template == ""
}

// Program is the command of an action, or of its preview.
type Program struct {
	// Command is the program, with its arguments; {{input.<field>}} is filled in, each within
	// its one argument. A program name with a slash is a path, relative to the directory of the
	// kind's file; otherwise it is looked up on PATH. The program runs in the job's directory
	// and gets the input as JSON on standard input.
	Command []string          `yaml:"command"`
	Env     map[string]string `yaml:"env"`     // Additional environment variables.
	Network job.Network       `yaml:"network"` // The network access in a sandbox: a list of hosts, full or none (default).
	// Readable are absolute paths of files and directories that the command can read in a
	// sandbox, in addition to the job's directory and the kind's.
	Readable []string `yaml:"readable"`
}

// checkProgram finds the mistakes of a command that the front matter has at a path of the action.
func (a *Action) checkProgram(p *Program, at ...string) {
	for i, word := range p.Command {
		switch {
		case i > 0:
			a.checkVariables(word, append(at, "command", strconv.Itoa(i))...)
		case word == "" || strings.Contains(word, "{{"):
			a.faultIn("its first word must be a program, without variables", append(at, "command")...)
		}
	}
	for name := range p.Env {
		if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
			a.faultIn(fmt.Sprintf("found %q; expected the name of a variable, such as DEPLOY_TOKEN", shorten(name)), append(at, "env")...)
		}
	}
	a.faultIn(networkFault(p.Network), append(at, "network")...)
	a.faultIn(pathsFault(p.Readable), append(at, "readable")...)
}

func pointerTo(variable string) string {
	return job.Pointer(strings.Split(strings.TrimPrefix(variable, "input."), ".")...)
}

// Line returns the line of a part of the action in the kind's file. path consists of
// keys and, in lists, of numbers from 0. If a part is missing, Line returns the line of
// its parent.
func (a *Action) Line(path ...string) int { return lineOf(a.node, path...) }

// Choice is one of the two answers to an action's question. In its message, {{input.<field>}} is
// filled in, in quotes. A reply that equals the message counts as the answer, so the message needs
// words of its own. Also lists further texts that count; nothing is filled in there.
type Choice = job.AnswerProps

// Filled returns an answer with an input's fields in its message.
func Filled(a Choice, input map[string]any) *job.AnswerProps {
	a.Message = job.Sentence(fill(a.Message, input, func(_ string, v any) []job.Segment {
		segments, _ := job.ValueSegments(v)
		return segments
	}))
	return &a
}

// Asks returns the question to a person about the action with an input.
func (a *Action) Asks(input map[string]any) *job.Asked {
	asked := &job.Asked{}
	var shown []string
	asked.Segments = fill(a.Question, input, func(variable string, v any) []job.Segment {
		segments, omitted := job.ValueSegments(v)
		asked.Omitted, shown = asked.Omitted+omitted, append(shown, pointerTo(variable))
		return segments
	})
	asked.Omitted += unnamed("", input, shown)
	for _, f := range a.schema.Fields() {
		asked.Fields = append(asked.Fields, job.AskedField{Name: f.Name, Title: job.FieldLabel(f.Title, f.Name)})
	}
	return asked
}

// LeftOut returns the fields of the input that the question names nowhere. If one of them is given, a
// yes in words has the question asked again with the whole input. It is empty if nobody is asked.
func (a *Action) LeftOut() (names []string) {
	if a.Confirm == approval.ConfirmNever {
		return nil
	}
	for _, f := range a.schema.Fields() {
		named := slices.ContainsFunc(variable().FindAllStringSubmatch(a.Question, -1), func(match []string) bool {
			return strings.HasPrefix(pointerTo(match[1])+"/", job.Pointer(f.Name)+"/")
		})
		if !named {
			names = append(names, f.Name)
		}
	}
	return names
}

// unnamed returns the number of bytes of an input, or of a part of it at a JSON pointer, that a
// question does not name: all but what is at the pointers in shown. The schema may allow fields that
// it does not declare, so the input counts, not the schema.
func unnamed(at string, input map[string]any, shown []string) (bytes int) {
	for name, v := range input {
		pointer := at + job.Pointer(name)
		part, isObject := v.(map[string]any)
		switch {
		case slices.Contains(shown, pointer):
		case isObject && len(part) > 0:
			bytes += unnamed(pointer, part, shown)
		default:
			bytes += len(job.MustJSON(map[string]any{name: v}))
		}
	}
	return bytes
}

// fill puts an input's fields into a text for people, formatted by show. Quotes in the text around
// a variable are dropped.
func fill(text string, input map[string]any, show func(variable string, v any) []job.Segment) (segments []job.Segment) {
	own := func(words string) {
		if words != "" {
			segments = append(segments, job.Segment{From: job.FromKind, Text: words})
		}
	}
	for {
		at := variable().FindStringSubmatchIndex(text)
		if at == nil {
			own(text)
			return segments
		}
		before, name, after := text[:at[0]], text[at[2]:at[3]], text[at[1]:]
		value := FieldOf(input, name)
		if _, isText := value.(string); isText && strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`) {
			before, after = before[:len(before)-1], after[1:]
		}
		own(before)
		if value != nil {
			segments = append(segments, show(name, value)...)
		}
		text = after
	}
}

// FieldOf returns the field of an input that a variable names; nil if it is missing.
func FieldOf(input any, variable string) any {
	for field := range strings.SplitSeq(strings.TrimPrefix(variable, "input."), ".") {
		object, _ := input.(map[string]any)
		input = object[field]
	}
	return input
}

// SchemaSource is a JSON Schema written as YAML; its properties keep their order.
type SchemaSource json.RawMessage

// UnmarshalYAML converts the YAML to JSON. The decoder must use yaml.UseOrderedMap.
func (s *SchemaSource) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	text, err := orderedJSON(v)
	*s = SchemaSource(text)
	return err
}

// orderedJSON encodes a decoded YAML value with the members of mappings in order.
func orderedJSON(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case yaml.MapSlice:
		members := make([]string, len(v))
		for i, m := range v {
			value, err := orderedJSON(m.Value)
			if err != nil {
				return nil, err
			}
			members[i] = string(job.MustJSON(fmt.Sprint(m.Key))) + ":" + string(value)
		}
		return json.RawMessage("{" + strings.Join(members, ",") + "}"), nil
	case []any:
		items := make([]json.RawMessage, len(v))
		for i, item := range v {
			var err error
			if items[i], err = orderedJSON(item); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	}
	return json.Marshal(v)
}

// Schema returns the compiled schema of the action's input.
func (a *Action) Schema() *schema.Schema { return a.schema }

// NeedsApproval reports whether a person must allow the action with this input.
func (a *Action) NeedsApproval(input map[string]any) bool { return a.confirm.Asks(input) }

// Fill puts an input's fields in place of the variables of a text for programs. An
// absent field leaves nothing.
func Fill(text string, input map[string]any) string {
	return Render(text, func(name string) string {
		v := FieldOf(input, name)
		if v == nil {
			return ""
		}
		if text, ok := v.(string); ok {
			return text
		}
		return string(job.MustJSON(v))
	})
}

// Action returns one of the kind's actions.
func (k *Kind) Action(name string) (*Action, bool) {
	i := slices.IndexFunc(k.Policy.Actions, func(a *Action) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return k.Policy.Actions[i], true
}

var actionName = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9_-]{0,62}$`)

func (p *Policy) actionProblems(list ast.Node) (problems []Problem) {
	nodes := itemsOf(list)
	for i, a := range p.Actions {
		number := fmt.Sprintf("number %d", i+1)
		if a == nil {
			problems = append(problems, Problem{Line: lineOf(list), Message: "actions: " + number + " is empty", Unreadable: true})
			continue
		}
		if a.node, a.label = list, cmp.Or(a.Name, number); i < len(nodes) {
			a.node = nodes[i]
		}
		if slices.ContainsFunc(p.Actions[:i], func(b *Action) bool { return b != nil && b.Name == a.Name }) {
			problems = append(problems, Problem{Line: a.Line("name"), Message: "actions: " + a.label + " occurs twice", Unreadable: true})
			continue
		}
		a.complete()
		problems = append(problems, a.problems...)
	}
	return problems
}

// problem returns a mistake in the part at path.
func (a *Action) problem(message, hint string, path ...string) Problem {
	return Problem{Line: a.Line(path...), Message: "actions: " + a.label + ": " + message, Hint: hint, Unreadable: a.schema == nil}
}

// fault records a mistake in the part at path, unless the message is empty.
func (a *Action) fault(message, hint string, path ...string) {
	if message != "" {
		a.problems = append(a.problems, a.problem(message, hint, path...))
	}
}

// faultIn is fault for a message that begins with the names of the part.
func (a *Action) faultIn(message string, path ...string) {
	if message != "" {
		a.fault(strings.Join(path, ": ")+": "+message, "", path...)
	}
}

// checkVariables finds the variables of a text that no field of an input could replace.
func (a *Action) checkVariables(text string, path ...string) {
	for _, p := range inputFaults(text, a.schema) {
		a.fault(p.Message, p.Hint, path...)
	}
}

// complete sets the defaults of an action, and finds its mistakes.
func (a *Action) complete() {
	a.Title, a.Confirm = cmp.Or(a.Title, a.Name), cmp.Or(a.Confirm, approval.ConfirmAlways)
	a.Question = cmp.Or(a.Question, a.Title+"?")
	a.Yes.Label, a.No.Label = cmp.Or(a.Yes.Label, "Approve"), cmp.Or(a.No.Label, "Deny")
	a.Yes.Message = cmp.Or(a.Yes.Message, "Yes, please proceed with "+a.Name+".")
	a.No.Message = cmp.Or(a.No.Message, "No, I don't want to "+a.Name+" right now.")
	a.Timeout = cmp.Or(a.Timeout, 5*time.Minute)
	if len(a.Input) == 0 {
		a.Input = SchemaSource(anyObject)
	}
	var problems []Problem
	a.schema, problems = schema.CompileObject(a.Input)
	if !actionName().MatchString(a.Name) {
		a.faultIn(fmt.Sprintf("found %q; expected letters, digits, _ and -, beginning with a letter", a.Name), "name")
	}
	for _, p := range problems { // their lines are those of the schema as JSON
		a.fault("input: "+p.Message, p.Hint, "input")
	}
	if a.schema == nil {
		return
	}
	found := a.problems
	if a.schema.HasField("confirmed") {
		a.fault("input: the field confirmed is reserved", "", "input", "properties", "confirmed")
	}
	a.faultIn(a.confirmFault(), "confirm")
	a.fault(a.runFault(), "", "command")
	a.checkProgram(&a.Program)
	a.faultIn(a.Limits.Fault(), "limits")
	a.faultIn(pathsFault(a.Writable), "writable")
	a.checkPreview()
	a.checkTexts()
	if len(problems) > 0 {
		a.problems = found // the others may follow from these
	}
}

func (a *Action) confirmFault() string {
	var err error
	if a.confirm, err = approval.ParseConfirm(a.Confirm); err != nil {
		return err.Error()
	}
	for _, path := range a.confirm.Fields() {
		if message, hint := a.schema.FieldFault(path); message != "" {
			return strings.TrimSpace("input." + path + ": " + message + ". " + hint)
		}
	}
	return ""
}

func pathsFault(paths []string) string {
	for _, found := range paths {
		if !path.IsAbs(found) || path.Clean(found) == "/" {
			return fmt.Sprintf("found %q; expected absolute paths, such as /srv/www", found)
		}
	}
	return ""
}

func (a *Action) runFault() string {
	switch {
	case len(a.Command) == 0 && a.Webhook == "":
		return "needs a command, a list such as [./deploy.sh, production], or a webhook"
	case len(a.Command) > 0 && a.Webhook != "":
		return "has both a command and a webhook: keep one"
	case a.Timeout < time.Second || a.Timeout > 24*time.Hour:
		return fmt.Sprintf("timeout: found %s; expected 1s to 24h", a.Timeout)
	}
	if a.Webhook != "" && !outbound.IsWebAddress(a.Webhook) {
		return "webhook: expected an http or https URL"
	}
	return ""
}

// checkTexts finds variables that nothing could replace, and those in texts in which
// nothing is filled in.
func (a *Action) checkTexts() {
	plain := func(text string, path ...string) {
		if strings.Contains(text, "{{") {
			a.fault(path[len(path)-1]+": nothing is filled in here",
				"Variables may be used in question, in the messages of yes and no, and in the arguments of command.", path...)
		}
	}
	a.checkVariables(a.Question, "question")
	plain(a.Title, "title")
	plain(a.Webhook, "webhook")
	for name, answer := range map[string]Choice{"yes": a.Yes, "no": a.No} {
		plain(answer.Label, name, "label")
		a.checkVariables(answer.Message, name, "message")
		if answer.Message != "" && !strings.ContainsFunc(variable().ReplaceAllString(answer.Message, ""), unicode.IsLetter) {
			a.fault(name+": message: a reply that is only a value would count as this answer",
				"Write words of your own around the variable.", name, "message")
		}
		for i, text := range answer.Also {
			if strings.Contains(text, "{{") {
				a.fault(name+": also: nothing is filled in here, because a value could then choose which replies count",
					"Write out the words that count, or put the variable into message, which is filled in in quotes.", name, "also",
					strconv.Itoa(i))
			}
		}
	}
	for name, value := range a.Env {
		plain(value, "env", name)
	}
	a.checkAnswer("yes", intent.Approve, a.Yes, nil)
	a.checkAnswer("no", intent.Deny, a.No, a.Yes.Texts())
}

// checkAnswer finds wordings of an answer that contradict what it counts as.
func (a *Action) checkAnswer(name string, means intent.Outcome, answer Choice, others []string) {
	for i, text := range answer.Texts() {
		path := []string{name, "also", strconv.Itoa(i - 2)}
		if i < 2 {
			path = []string{name, []string{"label", "message"}[i]}
		}
		if fault := intent.WordingFault(means, text, others); fault != "" {
			a.faultIn(fmt.Sprintf("%q %s", text, fault), path...)
		}
	}
}

// inputFaults finds variables of a text that no input of a schema could replace.
func inputFaults(text string, input *schema.Schema) []Problem {
	return templateFaults(text, func(name string) (string, string) {
		field, ok := strings.CutPrefix(name, "input.")
		if !ok {
			return "is not a known variable", "There are {{input.<field>}}."
		}
		return input.FieldFault(field)
	})
}

// checkPrograms finds programs with a relative path in a built-in kind, which has no
// directory.
func checkPrograms(k *Kind) (problems []Problem) {
	check := func(a *Action, command []string, at ...string) {
		if len(command) > 0 && k.Dir == "" && strings.Contains(command[0], "/") && !path.IsAbs(command[0]) {
			message := strings.Join(at, ": ") + ": " + command[0] + " is a relative path, but the kind is in no directory"
			p := a.problem(message, "Name a program on PATH, or an absolute path.", at...)
			p.Unreadable = true // Claude could write a file of that name
			problems = append(problems, p)
		}
	}
	for _, a := range k.Policy.Actions {
		if a == nil {
			continue
		}
		check(a, a.Command, "command")
		if a.Preview != nil {
			check(a, a.Preview.Command, "preview", "command")
		}
	}
	return problems
}
