package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// Defaults is the environment of the commands: the defaults of flags, and functions that tests
// replace.
type Defaults struct {
	// ServerURL is the server's address; empty means client.DefaultURL.
	ServerURL string
	// Token is an API key or a user's token; empty sends none.
	Token string
	// User is the userId to act for; empty means the server's default.
	User string
	// NoColor also disables colours on terminals.
	NoColor bool
	// Pager is the command that shows long output on a terminal; empty means less.
	Pager string
	// Browser is the program that opens pages; empty means the system's default.
	Browser string
	// StateDir is the directory for the ids of last runs; empty means a directory in the user's
	// configuration directory.
	StateDir string
	// Terminal identifies the terminal or session that the command was started from. Each has its
	// own last run.
	Terminal string
	// Location is the time zone of times shown to people; nil means the local one.
	Location *time.Location
	// NowFunc returns the current time; nil means the system's clock.
	NowFunc func() time.Time
	// PollInterval is the interval at which a server is asked for what has no events; 0 means the
	// usual one.
	PollInterval time.Duration
	// TypedFunc reports whether a reader is a terminal with a person; nil asks the operating
	// system.
	TypedFunc func(io.Reader) bool
	// ExamineFunc checks the store of the local configuration, without a server.
	ExamineFunc func(ctx context.Context, mend bool) (job.Examination, error)
	// FormatFunc takes a step of an upgrade of that store, without a server.
	FormatFunc func(ctx context.Context, step job.StoreStep) (job.StoreFormat, error)
	// SizeFunc returns the size of a writer's terminal in characters, or 0 if it is no terminal; nil
	// asks the operating system.
	SizeFunc func(io.Writer) (columns, rows int)
}

// app is the state that the commands share.
type app struct {
	Defaults
	server, token, user string
	context             string
	output, jq          string
	// api is the server that is meant, once chooseServer has been called.
	api *client.Client
	// timeout limits how long a command waits; 0 means no limit.
	timeout time.Duration
	// stderr receives hints; nil before a command runs.
	stderr io.Writer
	// typed is standard input; nil until a person is first asked.
	typed *keyboard
}

// The values of --output.
const (
	table     = "table"
	plainJSON = "json"
)

func newApp(d Defaults) *app {
	if d.Location == nil {
		d.Location = time.Local
	}
	if d.NowFunc == nil {
		d.NowFunc = time.Now
	}
	d.PollInterval = cmp.Or(d.PollInterval, 500*time.Millisecond)
	if d.TypedFunc == nil {
		d.TypedFunc = typed
	}
	if d.SizeFunc == nil {
		d.SizeFunc = size
	}
	return &app{Defaults: d, user: d.User, output: table}
}

// Commands returns the client commands, to be added to a root command.
func Commands(d Defaults) []*cobra.Command {
	a := newApp(d)
	commands := []*cobra.Command{
		a.runCommand(), a.statusCommand(), a.watchCommand(), a.listCommand(),
		a.cancelCommand(), a.interruptCommand(), a.retryCommand(), a.moveCommand(), a.kindsCommand(), a.callbackCommand(),
		a.inboxCommand(), a.replyCommand(), a.messagesCommand(), a.sayCommand(),
		a.diffCommand(), a.logsCommand(), a.steerCommand(), a.approveCommand(), a.rejectCommand(),
		a.auditCommand(), a.approvalsCommand(), a.revokeCommand(), a.transcriptCommand(), a.openCommand(), a.doctorCommand(),
		a.upgradeCommand(), a.migrateCommand(), a.notificationsCommand(), a.resendCommand(), a.statsCommand(), a.contextCommand(),
	}
	for _, c := range commands {
		a.common(c)
		for _, below := range c.Commands() {
			a.common(below)
		}
	}
	return commands
}

func (a *app) common(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&a.server, "server", cmp.Or(a.ServerURL, client.DefaultURL), "`address` of the server (RINGBACK_URL)")
	f.StringVar(&a.context, "context", "", "`name` of a server, see ringback context")
	f.StringVar(&a.token, "token", "", "API key or user's `token` (RINGBACK_TOKEN)")
	f.StringVar(&a.user, "user", a.User, "`userId` to act for (RINGBACK_USER)")
	OutputFlag(c, &a.output)
	c.SetFlagErrorFunc(FlagError)
	f.StringVar(&a.jq, "jq", "", "filter the JSON with this jq `expression`; texts are printed without quotes")
	completeFlagWith(c, "context", a.completeContexts)
	c.PreRunE = func(cmd *cobra.Command, args []string) error {
		a.stderr = cmd.ErrOrStderr()
		if err := checkTexts(cmd, args); err != nil {
			return err
		}
		if err := a.checkFlags(cmd); err != nil {
			return err
		}
		switch out := cmd.OutOrStdout(); {
		case a.jq != "":
			filtered, err := a.newFilter(out)
			if err != nil {
				return err
			}
			cmd.SetOut(filtered)
		case a.json():
			cmd.SetOut(jsonWriter{out})
		}
		return nil
	}
}

// OutputFlag adds the flag for the format of a command's output.
func OutputFlag(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", table, "`format`: table or json")
	takesOnly(c, "output", []string{table, plainJSON})
	c.PreRunE = checkTexts
}

// Show prints a value as JSON if that is the format, and otherwise has people print it.
func Show(cmd *cobra.Command, output string, value any, people func(io.Writer)) error {
	if output == plainJSON {
		return writeJSON(jsonWriter{cmd.OutOrStdout()}, job.MustJSON(value))
	}
	people(cmd.OutOrStdout())
	return nil
}

func (a *app) checkFlags(cmd *cobra.Command) error {
	if a.jq != "" && cmd.Flags().Changed("output") && a.output != plainJSON {
		return usagef("--jq requires JSON, so it cannot be combined with --output %s", a.output)
	}
	if n, err := cmd.Flags().GetInt(limitFlag); err == nil && (n < 1 || n > maxLimit) {
		return usagef("--%s must be %s, not %d", limitFlag, flagWants[limitFlag], n)
	}
	if cmd.Flags().Changed(timeoutFlag) && a.timeout <= 0 {
		return usagef("--%s must be %s, not %s", timeoutFlag, flagWants["duration"], a.timeout)
	}
	if err := a.chooseServer(cmd); err != nil {
		return err
	}
	u, err := url.Parse(a.api.URL())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usagef("--server must be an address such as %s", client.DefaultURL)
	}
	return nil
}

// columns returns the width of a writer's terminal, or 0 if it is no terminal.
func (a *app) columns(w io.Writer) int {
	columns, _ := a.SizeFunc(w)
	return columns
}

func (a *app) json() bool { return a.output == plainJSON || a.jq != "" }

// show prints the API's JSON with --output json, and otherwise calls people to print the value. If
// there is no answer, it returns the error.
func show[T any](a *app, cmd *cobra.Command, answer client.Answer[T], err error, people func(printer, T)) error {
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if a.json() {
		return writeJSON(out, answer.JSON)
	}
	people(a.printer(out), answer.Value)
	return nil
}

// answerOf returns a value made here in the form of an answer of the server.
func answerOf[T any](value T) client.Answer[T] {
	return client.Answer[T]{Value: value, JSON: job.MustJSON(value)}
}

// poll calls look at intervals until it is done. It returns the error of ctx if ctx ends first.
func (a *app) poll(ctx context.Context, look func() (done bool, err error)) error {
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(a.PollInterval):
		}
	}
}

const timeoutFlag = "timeout"

func (a *app) withTimeout(c *cobra.Command) {
	c.Flags().DurationVar(
		&a.timeout, timeoutFlag, 0, "stop waiting after this `time`, such as 90s or 5m, with exit code 124; the job continues",
	)
}

// untilLeft calls do until Ctrl-C, for which it returns left, until --timeout, or until its output can no
// longer be written.
func (a *app) untilLeft(cmd *cobra.Command, left error, do func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	stopOnFailure(cmd, stop)
	if a.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.timeout, errTimedOut)
		defer cancel()
	}
	switch err := do(ctx); {
	case err == nil, ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), errTimedOut):
		return errTimedOut
	}
	return left
}

// writeJSON prints JSON indented, without changing its values or their order.
func writeJSON(w io.Writer, text json.RawMessage) error {
	_, err := io.WriteString(w, indented(text)+"\n")
	return err
}

func indented(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return strings.TrimSpace(out.String())
}
