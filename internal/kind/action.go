package kind

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/goccy/go-yaml"

	"ringback/internal/job"
)

// Action is something that the server does for Claude, and that a person may
// have to allow first (seed 000).
type Action struct {
	// Name is how Claude calls it: /api/claude/actions/<name>.
	Name string `yaml:"name"`
	// Description tells Claude what it does and when to use it.
	Description string `yaml:"description"`
	// Title heads what a person sees; default the name.
	Title string `yaml:"title"`
	// Input is the JSON Schema of its input, an object.
	Input SchemaSource `yaml:"input"`
	// Confirm says when a person must allow it: always (default), never, or
	// "when: <expression>" over the input, such as "when: input.amount > 100".
	Confirm string `yaml:"confirm"`
	// Question is what the person is asked; {{input.<field>}} is filled in.
	Question string `yaml:"question"`
	// Yes and No are the two answers.
	Yes Answer `yaml:"yes"`
	No  Answer `yaml:"no"`
	// Command is the program that does it, with its arguments; {{input.<field>}} is
	// filled in, each into its one argument. It gets the input as JSON on standard
	// input. Webhook is called with the input instead.
	Command []string `yaml:"command"`
	Webhook string   `yaml:"webhook"`
	// Env are further environment variables of the command.
	Env map[string]string `yaml:"env"`
	// Timeout is how long it may take; default 5 minutes.
	Timeout time.Duration `yaml:"timeout"`

	schema *Schema
	when   *vm.Program
}

// Answer is one of the two answers to an action's question, see job.AnswerProps.
// In its texts, {{input.<field>}} is filled in.
type Answer struct {
	Label   string   `yaml:"label"`
	Message string   `yaml:"message"`
	Also    []string `yaml:"also"`
}

// Filled is the answer with an input's fields in its texts.
func (a Answer) Filled(input map[string]any) *job.AnswerProps {
	p := &job.AnswerProps{Label: a.Label, Message: Fill(a.Message, input)}
	for _, text := range a.Also {
		p.Also = append(p.Also, Fill(text, input))
	}
	return p
}

// SchemaSource is a JSON Schema written as YAML; its properties keep their order.
type SchemaSource json.RawMessage

// UnmarshalYAML takes the YAML as JSON.
func (s *SchemaSource) UnmarshalYAML(text []byte) error {
	converted, err := yaml.YAMLToJSON(text)
	*s = converted
	return err
}

// Schema is the compiled schema of the action's input.
func (a *Action) Schema() *Schema { return a.schema }

// NeedsApproval reports whether a person must allow the action with this input.
// Whatever cannot be decided must be allowed.
func (a *Action) NeedsApproval(input map[string]any) bool {
	if a.Confirm == never {
		return false
	}
	if a.when == nil {
		return true
	}
	result, err := expr.Run(a.when, map[string]any{"input": plainNumbers(input)})
	needed, ok := result.(bool)
	return err != nil || !ok || needed
}

// Fill puts an input's fields in place of the variables of a text. An absent
// field leaves nothing.
func Fill(text string, input map[string]any) string {
	return Render(text, func(name string) string {
		var v any = input
		for field := range strings.SplitSeq(strings.TrimPrefix(name, "input."), ".") {
			object, _ := v.(map[string]any)
			v = object[field]
		}
		switch v := v.(type) {
		case nil:
			return ""
		case string:
			return v
		}
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
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

const (
	always = "always"
	never  = "never"
)

var actionName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,62}$`)

// actionFault checks the actions and fills in what they leave out; empty when
// nothing is wrong.
func (p *Policy) actionFault() string {
	for i, a := range p.Actions {
		if a == nil {
			return fmt.Sprintf("number %d is empty", i+1)
		}
		if slices.ContainsFunc(p.Actions[:i], func(b *Action) bool { return b.Name == a.Name }) {
			return fmt.Sprintf("%s stands here twice", a.Name)
		}
		if fault := a.complete(); fault != "" {
			return fmt.Sprintf("%s: %s", cmp.Or(a.Name, fmt.Sprintf("number %d", i+1)), fault)
		}
	}
	return ""
}

func (a *Action) complete() string {
	if !actionName.MatchString(a.Name) {
		return fmt.Sprintf("name: found %q; expected letters, digits, _ and -, beginning with a letter", a.Name)
	}
	a.Title, a.Confirm = cmp.Or(a.Title, a.Name), cmp.Or(a.Confirm, always)
	a.Question = cmp.Or(a.Question, a.Title+"?")
	a.Yes.Label, a.No.Label = cmp.Or(a.Yes.Label, "Approve"), cmp.Or(a.No.Label, "Deny")
	a.Yes.Message, a.No.Message = cmp.Or(a.Yes.Message, "Yes, please proceed with "+a.Name+"."), cmp.Or(a.No.Message, "No, I don't want to "+a.Name+" right now.")
	if a.Timeout == 0 {
		a.Timeout = 5 * time.Minute
	}
	if len(a.Input) == 0 {
		a.Input = SchemaSource(anyObject)
	}
	for _, fault := range []func() string{a.schemaFault, a.confirmFault, a.runFault, a.textFault} {
		if text := fault(); text != "" {
			return text
		}
	}
	return ""
}

func (a *Action) schemaFault() string {
	schema, err := NewSchema("input", []byte(a.Input))
	if err != nil {
		return err.Error()
	}
	a.schema = schema
	if schema.root.get("properties").get("confirmed") != nil {
		return "input: the field confirmed is the call's own"
	}
	return ""
}

func (a *Action) confirmFault() string {
	condition, conditional := strings.CutPrefix(a.Confirm, "when:")
	switch {
	case a.Confirm == always || a.Confirm == never:
		return ""
	case !conditional:
		return fmt.Sprintf(`confirm: found %q; allowed: always, never, "when: <expression over input>"`, a.Confirm)
	}
	program, err := expr.Compile(strings.TrimSpace(condition), expr.Env(map[string]any{"input": map[string]any{}}), expr.AsBool())
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return "confirm: " + message
	}
	a.when = program
	return ""
}

func (a *Action) runFault() string {
	switch {
	case len(a.Command) == 0 && a.Webhook == "":
		return "needs a command, a list such as [./deploy.sh, production], or a webhook"
	case len(a.Command) > 0 && a.Webhook != "":
		return "has both a command and a webhook: keep one"
	case len(a.Command) > 0 && (a.Command[0] == "" || strings.Contains(a.Command[0], "{{")):
		return "command: its first word must be a program, without variables"
	case a.Timeout < time.Second || a.Timeout > 24*time.Hour:
		return fmt.Sprintf("timeout: found %s; expected 1s to 24h", a.Timeout)
	}
	if a.Webhook != "" {
		if u, err := url.Parse(a.Webhook); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "webhook: expected an http or https URL"
		}
	}
	return ""
}

// textFault finds variables that nothing could be put in place of.
func (a *Action) textFault() string {
	texts := append([]string{a.Question, a.Yes.Message, a.No.Message}, a.Command...)
	for _, text := range append(texts, slices.Concat(a.Yes.Also, a.No.Also)...) {
		for _, match := range variable.FindAllStringSubmatch(text, -1) {
			path, ok := strings.CutPrefix(match[1], "input.")
			if !ok {
				return "{{" + match[1] + "}} is not a known variable: there are {{input.<field>}}"
			}
			if message, hint := inputFault(a.schema, path); message != "" {
				return "{{" + match[1] + "}}: " + strings.TrimSpace(message+" "+hint)
			}
		}
	}
	return ""
}

// plainNumbers makes JSON numbers comparable in expressions.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case map[string]any:
		plain := make(map[string]any, len(v))
		for name, value := range v {
			plain[name] = plainNumbers(value)
		}
		return plain
	case []any:
		plain := make([]any, len(v))
		for i, value := range v {
			plain[i] = plainNumbers(value)
		}
		return plain
	}
	return v
}
