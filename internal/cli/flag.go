package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError makes a fault of a flag a mistake in the command line, which ends
// with exit code 2.
func FlagError(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w\n%s --help shows the flags", inPlainWords(err), c.CommandPath())}
}

// flagWants words what a flag takes, by its type.
var flagWants = map[string]string{
	"int": "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a duration, such as 90s or 5m",
}

// inPlainWords says what a flag takes instead of how reading it failed.
func inPlainWords(err error) error {
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	wants, known := flagWants[e.GetFlag().Value.Type()]
	if !known {
		return err
	}
	return fmt.Errorf("--%s wants %s, not %s", e.GetFlag().Name, wants, Quoted(e.GetValue()))
}

// noneOf is the error for a flag's value that is not one of those there are.
func noneOf[T ~string](flag, value string, values []T) error {
	return usagef("%s knows no %s; it takes one of: %s", flag, Quoted(value), anyOf(values))
}
