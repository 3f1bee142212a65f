package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError marks an error of a flag as a usage error, which ends with exit code 2.
func FlagError(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w\n%s --help shows the flags", inPlainWords(err), c.CommandPath())}
}

// flagWants describes the values of a flag, by its type.
var flagWants = map[string]string{
	"limit": "a whole number from 1 to 500",
	"int":   "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a duration, such as 90s or 5m",
}

// inPlainWords replaces a parse error with what the flag accepts.
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

// maxLimit is the maximum number of entries in a page of a list.
const maxLimit = 500

// limit is the value of --limit: the number of entries in a page of a list.
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

// noneOf returns the error for an unknown value of a flag.
func noneOf[T ~string](flag, value string, values []T) error {
	return usagef("%s knows no %s; it takes one of: %s", flag, Quoted(value), anyOf(values))
}
