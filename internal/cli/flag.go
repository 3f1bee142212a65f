package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/text/spelling"
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
		return fmt.Errorf("--%s must be %s, not %s", f.Name, wants, Quoted(e.GetValue()))
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
				"--%s does not allow %s; %sallowed: %s", f.Name, Quoted(names[i]), spelling.Meant(names[i], values), spelling.List(values),
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

// object is a JSON object on a command line: one flag gives the whole object, another gives single
// fields.
type object struct {
	textFlag, fieldFlag string
	text                string
	fields              []string
}

// read returns the object from the flag, a file or standard input, with the single fields added.
func (o object) read(stdin io.Reader) (json.RawMessage, error) {
	text, err := inputText(o.text, stdin)
	if err != nil {
		return nil, usagef("%s: %w", o.textFlag, err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil || values == nil {
		return nil, usagef("%s must be a JSON object%s", o.textFlag, o.fault(err))
	}
	if _, err := strictjson.Decode(text); err != nil { // such as a duplicate field
		return nil, err
	}
	if len(o.fields) == 0 {
		return text, nil
	}
	for _, field := range o.fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return nil, usagef("%s must be name=value, not %s", o.fieldFlag, Quoted(field))
		}
		values[name] = fieldValue(value)
	}
	return job.MustJSON(values), nil
}

func inputText(input string, stdin io.Reader) ([]byte, error) {
	file, isFile := strings.CutPrefix(input, "@")
	switch {
	case input == "":
		return []byte("{}"), nil
	case input == "-":
		return io.ReadAll(stdin)
	case isFile:
		return os.ReadFile(file)
	}
	return []byte(input), nil
}

// fieldValue parses a value as JSON if it is valid, and otherwise as text.
func fieldValue(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return job.MustJSON(value)
}

// fault describes the mistake in the object and suggests a correction.
func (o object) fault(err error) string {
	if name := strings.TrimSpace(o.text); looksLikeFile(name) {
		return fmt.Sprintf("; to read the file, write %s %s", o.textFlag, Quoted("@"+name))
	}
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isType:
		return ", but got " +
			map[string]string{"array": "a list", "string": "a text", "number": "a number", "bool": "true or false"}[wrong.Value]
	case err == nil:
		return ", but got null"
	}
	return ": " + err.Error()
}

// looksLikeFile reports whether text that should be JSON is the name of a file.
func looksLikeFile(text string) bool {
	if text == "" || strings.ContainsAny(text, "{[\"\n") || strings.HasPrefix(text, "@") {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular() || strings.HasSuffix(text, ".json")
}
