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

	"ringback/client"
	"ringback/internal/job"
)

// asker asks a person at a terminal, line by line.
type asker struct {
	ctx context.Context //nolint:containedctx // it lives as long as one question is asked
	in  *keyboard
	p   printer
}

func (a *app) asker(ctx context.Context, cmd *cobra.Command) asker {
	if a.typed == nil {
		file, _ := cmd.InOrStdin().(*os.File)
		a.typed = &keyboard{in: bufio.NewReader(cmd.InOrStdin()), file: file}
	}
	return asker{ctx: ctx, in: a.typed, p: a.printer(cmd.ErrOrStderr())}
}

// ask asks the person at the terminal a question and returns the reply. It uses standard error,
// because standard output is for the result.
func (a *app) ask(ctx context.Context, cmd *cobra.Command, c job.Checkpoint) (client.Reply, error) {
	q := a.asker(ctx, cmd)
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
		text, err := q.words()
		return client.Reply{Text: text, Seen: shown.seen}, err
	}
	r := client.Reply{Values: map[string]json.RawMessage{}}
	for _, f := range fields {
		value, err := q.value(f)
		if err != nil {
			return r, err
		}
		if value != nil {
			r.Values[f.Name] = value
		}
	}
	return r, nil
}

func (q asker) words() (string, error) {
	for {
		text, err := q.line("Your reply: ")
		if text != "" || err != nil {
			return text, err
		}
	}
}

// value repeats the prompt until it gets a valid value. It returns nil if the field is left out.
func (q asker) value(f field) (json.RawMessage, error) {
	for {
		q.p.hang("  │ ", "  │ ", "", f.prompt())
		text, err := q.line("Your value: ")
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
			q.p.printf("%s\n", q.p.paint(yellow, "This one is needed."))
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
func (q asker) line(prompt string) (string, error) {
	q.in.forget()
	q.p.printf("%s", prompt)
	text, err := q.in.line(q.ctx)
	switch {
	case errors.Is(err, io.EOF) && strings.TrimSpace(text) == "":
		q.p.printf("\n")
		return "", usagef("Nothing was sent: the answer was left unfinished")
	case q.ctx.Err() != nil:
		return "", q.ctx.Err()
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSpace(text), nil
}
