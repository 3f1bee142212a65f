package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/text/spelling"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// UsageError marks an error as the caller's mistake; the command ends with exit code 2.
func UsageError(err error) error { return usageError{err} }

// reported is an error that the command has already reported, with its exit code.
type reported struct {
	error
	code int
}

var (
	errNoResult = reported{errors.New("the job ended without a result"), 1}
	errTimedOut = reported{errors.New("the job has not ended in time"), 124} // as timeout(1)
	errDetached = reported{errors.New("detached from the job"), 130}
	// ErrReported is any other.
	ErrReported error = reported{errors.New("the command has failed"), 1}
)

// Execute runs a command line, prints its error to standard error, and returns
// its exit code. A command has failed if its output could not be written, even if it has done the rest.
func Execute(ctx context.Context, root *cobra.Command, args []string) int {
	out := &output{Writer: root.OutOrStdout()}
	root.SetOut(out)
	root.SetArgs(args)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil { // cobra's own succeeds for an unknown command
		help.Args = func(_ *cobra.Command, args []string) error {
			_, _, err := root.Find(args)
			return err
		}
	}
	c, err := root.ExecuteContextC(ctx)
	if lost := out.failure(); lost != nil && (err == nil || isReported(err) || errors.Is(err, lost)) {
		err = fmt.Errorf("the output could not be written: %w", lost)
	}
	if err == nil {
		return 0
	}
	if isUnknownCommand(err) {
		err = fmt.Errorf("%s\n%s --help lists the commands", strings.TrimSpace(err.Error()), root.Name())
	}
	if asksForJSON(c, args) {
		printErrorJSON(root.ErrOrStderr(), err)
	} else {
		PrintError(root.ErrOrStderr(), err)
	}
	return ExitCode(err)
}

// asksForJSON reports whether a command line requests JSON, even if its flags could not be parsed
// to the end.
func asksForJSON(c *cobra.Command, args []string) bool {
	if f := c.Flags().Lookup("output"); f != nil && f.Value.String() == plainJSON {
		return true
	}
	flags, _, _ := strings.Cut("\n"+strings.Join(args, "\n")+"\n", "\n--\n")
	return jsonOutput().MatchString(flags)
}

// jsonOutput matches the flag that requests JSON in a list of arguments, one a line.
var jsonOutput = lazy.Regexp(`(?m)^(?:-o[=\n]?|--output[=\n])json$`)

// isUnknownCommand reports whether the command does not exist. cobra has no error type for that.
func isUnknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "unknown command ") }

// ExitCode returns the exit code for a command's error, see the package comment.
func ExitCode(err error) int {
	var usage usageError
	var known reported
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &usage), isUnknownCommand(err):
		return 2
	}
	return 1
}

// isReported reports whether the command has already reported the error.
func isReported(err error) bool {
	_, ok := errors.AsType[reported](err)
	return ok
}

// PrintError prints an error with its details and hint, unless the command has already reported it.
func PrintError(w io.Writer, err error) {
	if isReported(err) {
		return
	}
	var e *job.Error
	columns, _ := size(w)
	p := printer{Writer: w, columns: columns}
	if !errors.As(err, &e) {
		p.printf("Error: %s\n", cleanLines(err.Error()))
		return
	}
	p.hang("Error: ", "  ", "", clean(e.Message))
	for _, d := range e.Details {
		p.hang("  ", "    ", "", strings.TrimSpace(clean(d.Path)+"  "+clean(d.Message)))
	}
	if e.Hint != "" {
		p.hang("", "  ", "", clean(inCommands(e.Hint)))
	}
}

// printErrorJSON prints an error in the API's format: one object on one line.
func printErrorJSON(w io.Writer, err error) {
	if isReported(err) {
		return
	}
	var e *job.Error
	if !errors.As(err, &e) {
		message, hint, _ := strings.Cut(err.Error(), "\n")
		e = &job.Error{Message: message, Hint: strings.TrimSpace(hint)}
	}
	body := job.Error{Message: e.Message, Details: e.Details, Hint: inCommands(e.Hint)}
	enc := json.NewEncoder(jsonWriter{w})
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // if standard error is closed, there is no reader
}

// Problems returns the error of a check that found n problems.
func Problems(n int) error {
	return errors.New(spelling.Count(n, "problem") + " found")
}

// endpoint matches an endpoint of the API in a text from the server.
var endpoint = lazy.Regexp(`\b(?:GET|POST|DELETE) (/[a-z][^\s"'),;]*[^\s"'),;.:])`)

// wordsOfHTTP replaces terms of HTTP requests by their equivalents on the command line.
var wordsOfHTTP = strings.NewReplacer(
	`with "options": {"simulate": "manual"}`, "with --simulate manual",
	"?userId=", "--user", "leave userId out", "leave --user out", "Pass nextCursor of the page before",
	"Pass --cursor as printed by the previous page",
	"Send Authorization: Bearer with an API key or a user's token",
	"Give an API key or a user's token as RINGBACK_TOKEN or with --token",
	"Is the client's address right?", "Is the address right? It comes from --server or RINGBACK_URL.",
	"; WebSockets may pass the token as ?token=", "",
)

// inCommands rewrites a server's hint for the command line, with commands instead of endpoints.
func inCommands(hint string) string {
	hint = endpoint().ReplaceAllStringFunc(hint, func(text string) string {
		if command := commandFor(endpoint().FindStringSubmatch(text)[1]); command != "" {
			return "ringback " + command
		}
		return text
	})
	return wordsOfHTTP.Replace(hint)
}

// commands are the commands for endpoints; * is an id. Most actions on a job or a question have the
// name of their command.
var commands = map[string]string{
	"to-llm": "say", "api/jobs": "list", "api/jobs/*": "status *", "api/jobs/*/events": "watch *", "api/jobs/*/steering": "status *",
	"api/kinds": "kinds", "api/kinds/*": "kinds *", "api/checkpoints": "inbox", "api/checkpoints/*": "inbox --all",
	"api/approvals": "approvals", "api/approvals/*": "revoke *", "api/sessions/*/messages": "messages *",
}

// actions are the actions on a job or a question with the name of their command.
var actions = []string{
	"approve", "reject", "cancel", "interrupt", "retry", "move", "steer", "diff", "logs", "audit", "transcript", "callback", "reply",
}

// commandFor returns the command for an endpoint, or "" if it has none.
func commandFor(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	id := ""
	if len(parts) > 2 {
		id, parts[2] = parts[2], "*"
		if parameter, ok := strings.CutPrefix(id, ":"); ok { // a parameter such as :id
			id = "<" + parameter + ">"
		}
	}
	command := commands[strings.Join(parts, "/")]
	if len(parts) == 4 && slices.Contains(actions, parts[3]) {
		command = parts[3] + " *"
	}
	return strings.Replace(command, "*", id, 1)
}
