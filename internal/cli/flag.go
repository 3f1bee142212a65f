package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringback/internal/job"
	"ringback/internal/spelling"
)

// FlagError marks an error of a flag as a usage error, which ends with exit code 2.
func FlagError(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w\n%s%s --help shows the flags", inPlainWords(err), meantFlag(c, err), c.CommandPath())}
}

// meantFlag asks for the flag that was probably meant; "" if none is known.
func meantFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if meant := spelling.Nearest(unknown.GetSpecifiedName(), known); meant != "" {
		return "did you mean --" + meant + "? "
	}
	return ""
}

// flagWants describes the values of a flag, by its name or else its type.
var flagWants = map[string]string{
	limitFlag: "a whole number from 1 to 500",
	"int":     "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a duration, such as 90s or 5m",
}

// inPlainWords replaces a parse error with what the flag accepts.
func inPlainWords(err error) error {
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	f := e.GetFlag()
	if wants := cmp.Or(flagWants[f.Name], flagWants[f.Value.Type()]); wants != "" {
		return fmt.Errorf("--%s wants %s, not %s", f.Name, wants, Quoted(e.GetValue()))
	}
	return err
}

// onlyValues is the annotation of a flag with the values that it takes.
const onlyValues = "values"

// checkTexts checks the arguments, and the texts of flags. Empty ones come from variables that are not set,
// and must not turn a command for one job, user or chat into one for others.
func checkTexts(cmd *cobra.Command, args []string) (err error) {
	for _, arg := range args {
		if strings.TrimSpace(arg) == "" {
			return usagef("%s got an empty argument (%s): is a variable not set?", cmd.CommandPath(), Quoted(arg))
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		texts := []string{f.Value.String()}
		names := texts
		if several, ok := f.Value.(pflag.SliceValue); ok {
			texts = several.GetSlice()
			names = job.NamesIn[string](texts...)
		} else if f.Value.Type() != "string" || f.Name == "reason" {
			return
		}
		if i := slices.IndexFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" }); i >= 0 {
			err = usagef("--%s is empty (%s): is a variable not set? Give it a value, or leave it out", f.Name, Quoted(texts[i]))
			return
		}
		values := f.Annotations[onlyValues]
		if i := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(values, name) }); i >= 0 && values != nil {
			err = usagef(
				"--%s knows no %s; %sit takes one of: %s", f.Name, Quoted(names[i]), spelling.Meant(names[i], values), spelling.List(values),
			)
		}
	})
	return err
}

// limitFlag is the name of the flag for the number of entries in a page of a list, and maxLimit its
// maximum.
const (
	limitFlag = "limit"
	maxLimit  = 500
)
