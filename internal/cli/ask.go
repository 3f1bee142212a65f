package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

// asker asks a person at a terminal, line by line.
type asker struct {
	in *keyboard
	p  printer
}

func (a *app) asker(cmd *cobra.Command) asker {
	if a.typed == nil {
		file, _ := cmd.InOrStdin().(*os.File)
		a.typed = &keyboard{in: bufio.NewReader(cmd.InOrStdin()), file: file}
	}
	return asker{in: a.typed, p: a.printer(cmd.ErrOrStderr())}
}

// ask asks the person at the terminal a question and returns the reply. It uses standard error,
// because standard output is for the result.
func (a *app) ask(ctx context.Context, cmd *cobra.Command, c job.Checkpoint) (client.Reply, error) {
	q := a.asker(cmd)
	fields := fieldsOf(c)
	var shown subject
	var err error
	if c.Type.Binding() {
		shown, err = a.shows(ctx, cmd, "", c)
	} else {
		err = a.present(ctx, cmd, func(p printer) error {
			p.asks(c)
			return nil
		})
	}
	if err != nil {
		return client.Reply{}, err
	}
	if len(fields) == 0 {
		q.p.warn(shown.warnings)
		if replies := suggested(c.Props); replies != "" {
			q.p.hang("Replies: ", "         ", faint, clean(replies))
		}
		text, err := q.words(ctx)
		return client.Reply{Text: text, Seen: shown.seen}, err
	}
	r := client.Reply{Values: map[string]json.RawMessage{}}
	for _, f := range fields {
		value, err := q.value(ctx, f)
		if err != nil {
			return r, err
		}
		if value != nil {
			r.Values[f.Name] = value
		}
	}
	return r, nil
}

func (q asker) words(ctx context.Context) (string, error) {
	for {
		text, err := q.line(ctx, "Your reply: ")
		if text != "" || err != nil {
			return text, err
		}
	}
}

// value repeats the prompt until it gets a valid value. It returns nil if the field is left out.
func (q asker) value(ctx context.Context, f field) (json.RawMessage, error) {
	for {
		q.p.hang("  │ ", "  │ ", "", f.prompt())
		text, err := q.line(ctx, "Your value: ")
		if err != nil {
			return nil, err
		}
		switch {
		case text != "":
			value, err := f.read(text)
			if err == nil {
				return value, nil
			}
			q.p.printf("%s\n", q.p.paint(yellow, clean(err.Error())))
		case f.Default != nil:
			return json.Marshal(f.Default)
		case !f.Required:
			return nil, nil
		default:
			q.p.printf("%s\n", q.p.paint(yellow, "This value is required."))
		}
	}
}

// prompt describes a field: its name, its choices, and the meaning of an empty line.
func (f field) prompt() string {
	prompt := clean(f.label())
	if choices := f.choices(); len(choices) > 0 {
		prompt += " (" + clean(strings.Join(choices, " | ")) + ")"
	}
	switch {
	case f.Default != nil:
		prompt += " [" + clean(asTyped(f.Default)) + "]"
	case !f.Required:
		prompt += " [leave out]"
	}
	return prompt
}

// line reads one line, which was typed after the prompt was shown. The end of the input cancels the
// answer.
func (q asker) line(ctx context.Context, prompt string) (string, error) {
	q.in.forget()
	q.p.printf("%s", prompt)
	text, err := q.in.line(ctx)
	switch {
	case errors.Is(err, io.EOF) && strings.TrimSpace(text) == "":
		q.p.printf("\n")
		return "", usagef("Nothing was sent: the answer was left unfinished")
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSpace(text), nil
}

// keyboard reads what a person types, line by line. It begins to read only once there is something: a
// question may be withdrawn, and what is typed afterwards is meant for the next program.
type keyboard struct {
	in *bufio.Reader
	// file is what is read; nil if it is no file, which holds all of its text already.
	file *os.File
}

// forget discards what was typed so far: it cannot be meant as the answer to a question that is yet to
// be shown.
func (k *keyboard) forget() {
	if k.file != nil && typed(k.file) {
		discardTyped(int(k.file.Fd()))
		k.in.Reset(k.file)
	}
}

// line returns the next line, or the error of ctx if that ends first. It is not safe for concurrent use.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if k.file != nil && k.in.Buffered() == 0 {
		if err := k.wait(ctx); err != nil {
			return "", err
		}
	}
	return k.in.ReadString('\n')
}

// wait returns once something can be read.
func (k *keyboard) wait(ctx context.Context) error {
	ended, end, err := os.Pipe() // ended can be read once ctx has ended
	if err != nil {
		return err
	}
	defer ended.Close()
	defer end.Close()
	defer context.AfterFunc(ctx, func() { _ = end.Close() })()
	in, stop := int(k.file.Fd()), int(ended.Fd())
	for {
		var ready unix.FdSet
		ready.Set(in)
		ready.Set(stop)
		_, err := unix.Select(max(in, stop)+1, &ready, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && ready.IsSet(stop):
			return ctx.Err()
		}
		return err
	}
}

// field is one value that a question asks for. Its default is the value that is already known, if
// any.
type field struct{ schema.Field }

// fieldsOf returns the values that a question asks for ("Asking" in docs/chat.md), in their
// original order. It returns none if the question asks for words.
func fieldsOf(c job.Checkpoint) []field {
	var props job.Props
	if job.UnmarshalExact(c.Props, &props) != nil {
		return nil
	}
	var fields []field
	for _, f := range schemaFields(props.Schema) {
		if known, ok := props.CurrentValues[f.Name]; ok {
			f.Default = known
		}
		if f.Type == "boolean" {
			f.Enum = []any{true, false}
		}
		fields = append(fields, field{f})
	}
	return fields
}

// schemaFields returns the fields of a schema; none if it cannot be read.
func schemaFields(source json.RawMessage) []schema.Field {
	s, _ := schema.New("", source)
	return s.Fields()
}

func (f field) label() string {
	label := job.FieldLabel(f.Title, f.Name)
	if f.Description != "" {
		label += ": " + f.Description
	}
	return oneLine(label)
}

// choices returns the possible values as a person types them.
func (f field) choices() []string {
	choices := make([]string, len(f.Enum))
	for i, value := range f.Enum {
		choices[i] = asTyped(value)
	}
	return choices
}

func asTyped(value any) string {
	switch value {
	case true:
		return "yes"
	case false:
		return "no"
	}
	return oneLine(job.ValueText(value))
}

// read converts typed text to a value. It reports only the mistakes that it can detect here; the
// server validates the rest.
func (f field) read(text string) (json.RawMessage, error) {
	switch {
	case len(f.Enum) > 0:
		exactly := func(a, b string) bool { return a == b }
		for _, equal := range []func(a, b string) bool{exactly, strings.EqualFold} { // MB is not Mb
			for i, choice := range f.choices() {
				short := f.Type == "boolean" && equal(choice[:1], text)
				if short || equal(choice, text) || equal(job.ValueText(f.Enum[i]), text) {
					return json.Marshal(f.Enum[i])
				}
			}
		}
		return nil, usagef("Choose one of: %s", strings.Join(f.choices(), " | "))
	case f.Type == "number" || f.Type == "integer":
		var n json.Number
		if json.Unmarshal([]byte(text), &n) != nil || text[0] == '"' || f.Type == "integer" && strings.ContainsAny(text, ".eE") {
			return nil, usagef("Type a number%s", map[bool]string{true: " without a fraction"}[f.Type == "integer"])
		}
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}
