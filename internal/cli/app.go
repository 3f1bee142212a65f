package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ringback/internal/client"
	"ringback/internal/job"
)

// Defaults are what flags fall back to.
type Defaults struct {
	ServerURL string
	Token     string
	User      string
	NoColor   bool
}

// app is what the commands share.
type app struct {
	server, token, user, output string
	requestID                   string
	noColor                     bool
}

// Commands returns the client commands.
func Commands(d Defaults) []*cobra.Command {
	a := &app{noColor: d.NoColor}
	commands := []*cobra.Command{
		a.runCommand(), a.statusCommand(), a.watchCommand(), a.listCommand(),
		a.actionCommand("cancel", "End a job now"), a.actionCommand("retry", "Start an expired, failed or cancelled job again"),
		a.kindsCommand(), a.callbackCommand(),
	}
	for _, c := range commands {
		f := c.Flags()
		f.StringVar(&a.server, "server", d.ServerURL, "address of the server (RINGBACK_URL)")
		f.StringVar(&a.token, "token", d.Token, "API key or user's token (RINGBACK_TOKEN)")
		f.StringVar(&a.user, "user", d.User, "userId to act for (RINGBACK_USER)")
		f.StringVarP(&a.output, "output", "o", "table", "table or json")
		c.PreRunE = func(*cobra.Command, []string) error {
			if a.output != "table" && a.output != "json" {
				return usagef("--output is table or json, not %q", a.output)
			}
			return nil
		}
	}
	return commands
}

// takesID adds the flags that name a job, beside the argument.
func (a *app) takesID(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.requestID, "request-id", "", "the job (default: the last one you ran)")
	c.Flags().StringVar(&a.requestID, "workflow-id", "", "another name for --request-id")
	c.Args = cobra.MaximumNArgs(1)
	return c
}

// jobID finds out which job is meant.
func (a *app) jobID(args []string) (job.ID, error) {
	switch {
	case len(args) > 0:
		return job.ID(args[0]), nil
	case a.requestID != "":
		return job.ID(a.requestID), nil
	}
	if last := lastRun(); last != "" {
		return last, nil
	}
	return "", usagef("Which job? Give its requestId, or run one first: ringback run meal-suggestions --input '{…}'")
}

func (a *app) client() *client.Client { return client.New(a.server, a.token) }

func (a *app) json() bool { return a.output == "json" }

// show prints the API's JSON, or lets people print it their way.
func (a *app) show(w io.Writer, v any, people func(printer)) error {
	if a.json() {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	people(a.printer(w))
	return nil
}

func (a *app) printer(w io.Writer) printer {
	return printer{Writer: w, color: !a.noColor && isTerminal(w)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errEnded is how run ends when the job did not bring a result.
var errEnded = errors.New("the job ended without a result")

// ExitCode is 0 for success, 2 for a mistake in the command line, else 1.
func ExitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	}
	return 1
}

// PrintError prints an error with its details and what to do.
func PrintError(w io.Writer, err error) {
	if errors.Is(err, errEnded) {
		return // the job's own story was printed
	}
	var e *job.Error
	if !errors.As(err, &e) {
		fmt.Fprintln(w, "Error:", err)
		return
	}
	fmt.Fprintln(w, "Error:", e.Message)
	for _, d := range e.Details {
		fmt.Fprintf(w, "  %s %s\n", d.Path, d.Message)
	}
	if e.Hint != "" {
		fmt.Fprintln(w, e.Hint)
	}
}

// FlagError makes a fault of a flag a mistake in the command line.
func FlagError(_ *cobra.Command, err error) error { return usageError{err} }

// Problems is the error of a check that found some.
func Problems(n int) error { return fmt.Errorf("%d problem(s) found", n) }
