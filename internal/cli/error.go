package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/job"
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// UsageError makes an error a mistake of whoever called, which ends with exit
// code 2.
func UsageError(err error) error { return usageError{err} }

// How run ends when the job's own story was printed already.
var (
	errNoResult = errors.New("the job ended without a result")
	errDetached = errors.New("detached from the job")
)

// ExitCode is the exit code for the error of a command, see the package comment.
func ExitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errDetached):
		return 130
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command "): // cobra has no type for it
		return 2
	}
	return 1
}

// PrintError prints an error with its details and what to do. What a command
// has told already is not said again.
func PrintError(w io.Writer, err error) {
	if errors.Is(err, errNoResult) || errors.Is(err, errDetached) {
		return
	}
	var e *job.Error
	if !errors.As(err, &e) {
		fmt.Fprintln(w, "Error:", cleanLines(err.Error()))
		return
	}
	fmt.Fprintln(w, "Error:", clean(e.Message))
	for _, d := range e.Details {
		fmt.Fprintln(w, "  "+strings.TrimSpace(clean(d.Path)+"  "+clean(d.Message)))
	}
	if e.Hint != "" {
		fmt.Fprintln(w, clean(e.Hint))
	}
}

// FlagError makes a fault of a flag a mistake in the command line, which ends
// with exit code 2.
func FlagError(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w\n%s --help shows the flags", err, c.CommandPath())}
}

// Problems is the error of a check that found n of them.
func Problems(n int) error {
	if n == 1 {
		return errors.New("1 problem found")
	}
	return fmt.Errorf("%d problems found", n)
}
