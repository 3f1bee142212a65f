package cli

import (
	"errors"
	"fmt"
	"strconv"

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
	"limit": "a whole number from 1 to 500",
	"int":   "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a duration, such as 90s or 5m",
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

// maxLimit is how many entries a page of a list holds at most.
const maxLimit = 500

// limit is the value of a flag that says how many entries a page of a list holds.
type limit int

func (l *limit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 1 || n > maxLimit) {
		err = strconv.ErrRange
	}
	*l = limit(n)
	return err
}
func (l *limit) String() string { return strconv.Itoa(int(*l)) }
func (*limit) Type() string     { return "limit" }

// limitFlag adds the flag --limit.
func limitFlag(flags *pflag.FlagSet, into *int, ifNone int, usage string) {
	*into = ifNone
	flags.Var((*limit)(into), "limit", usage)
}

// noneOf is the error for a flag's value that is not one of those there are.
func noneOf[T ~string](flag, value string, values []T) error {
	return usagef("%s knows no %s; it takes one of: %s", flag, Quoted(value), anyOf(values))
}
