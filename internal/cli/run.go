package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) runCommand() *cobra.Command {
	var n client.NewJob
	var input, simulate string
	var fields []string
	var noWait bool
	c := &cobra.Command{
		Use:   "run <kind>",
		Short: "Run a job and wait for its result",
		Example: `  ringback run meal-suggestions --input '{"dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-06"}'
  ringback run meal-suggestions --input @request.json --no-wait
  ringback run meal-suggestions --field dateRangeStart=2026-03-02 --field dateRangeEnd=2026-03-06`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("run takes one kind; ringback kinds lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			n.Kind, n.UserID, n.Options.Simulate = args[0], a.user, job.Simulation(simulate)
			var err error
			if n.Input, err = readInput(input, fields, cmd.InOrStdin()); err != nil {
				return err
			}
			return a.run(cmd, n, noWait)
		},
	}
	f := c.Flags()
	f.StringVarP(&input, "input", "i", "", "the job's input: JSON, @file, or - for standard input")
	f.StringArrayVarP(&fields, "field", "f", nil, "one field of the input as name=value (value: JSON or text); repeatable")
	f.StringVar(&n.SessionID, "session", "", "sessionId of the chat the job belongs to")
	f.StringVar(&n.IdempotencyKey, "idempotency-key", "", "a second run with the same key shows the first job")
	f.StringVar(&simulate, "simulate", "", "stand-in instead of Claude: manual, success, repair, failure or silence")
	f.BoolVar(&noWait, "no-wait", false, "print the requestId and return")
	return c
}

func (a *app) run(cmd *cobra.Command, n client.NewJob, noWait bool) error {
	api := a.client()
	created, err := api.Create(cmd.Context(), n)
	if err != nil {
		return err
	}
	rememberRun(created.RequestID)
	out := cmd.OutOrStdout()
	if noWait || n.Options.Simulate == job.SimulateManual {
		return a.show(out, created, func(p printer) {
			p.printf("%s\n", created.RequestID)
			if n.Options.Simulate == job.SimulateManual {
				p.printf("It waits for you to play Claude: ringback callback %s\n", created.RequestID)
			}
		})
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	progressTo := cmd.ErrOrStderr()
	if !a.json() {
		progressTo = out
	}
	j, err := follow(ctx, api, created.RequestID, n.UserID, a.printer(progressTo))
	if ctx.Err() != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "\nThe job goes on. See it with: ringback watch %s\n", created.RequestID)
		return nil
	}
	if err != nil {
		return err
	}
	return a.showEnd(out, j)
}

func (a *app) showEnd(out io.Writer, j job.Job) error {
	if err := a.show(out, j, func(p printer) { p.result(j) }); err != nil {
		return err
	}
	if j.State != job.Received {
		return errEnded
	}
	return nil
}

// RunAndShow runs a job and shows its progress and result to a person.
func RunAndShow(ctx context.Context, api *client.Client, n client.NewJob, out io.Writer, noColor bool) error {
	a := &app{output: "table", noColor: noColor}
	created, err := api.Create(ctx, n)
	if err != nil {
		return err
	}
	j, err := follow(ctx, api, created.RequestID, n.UserID, a.printer(out))
	if err != nil {
		return err
	}
	return a.showEnd(out, j)
}

// follow shows a job's progress until it has ended, and returns its record.
func follow(ctx context.Context, api *client.Client, id job.ID, userID string, p printer) (job.Job, error) {
	bar := newProgress(p)
	defer bar.done()
	from := job.Seq(0)
	for e, err := range api.Watch(ctx, client.Watch{UserID: userID, RequestID: id, Since: &from}) {
		if err != nil {
			return job.Job{}, err
		}
		if e.Name != client.Resync && !bar.show(e) {
			continue
		}
		j, err := api.Get(ctx, id)
		if err != nil || j.State.Terminal() {
			return j, err
		}
	}
	return job.Job{}, ctx.Err()
}

// readInput takes the input from a flag, a file or standard input, and adds
// single fields.
func readInput(input string, fields []string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(input)
	var err error
	switch {
	case input == "-":
		text, err = io.ReadAll(stdin)
	case strings.HasPrefix(input, "@"):
		text, err = os.ReadFile(input[1:])
	case input == "":
		text = []byte("{}")
	}
	if err != nil {
		return nil, usagef("--input: %w", err)
	}
	if len(fields) == 0 {
		if !json.Valid(text) {
			return nil, usagef("--input is not valid JSON: %s", strings.TrimSpace(string(text)))
		}
		return text, nil
	}
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, usagef("--input must be a JSON object to add fields to: %w", err)
	}
	for _, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, usagef("--field %q: want name=value", field)
		}
		object[name] = fieldValue(value)
	}
	return json.Marshal(object)
}

// fieldValue takes numbers, lists and the like as JSON, anything else as text.
func fieldValue(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return text
}
