package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"ringback/internal/httpjson"
	"ringback/internal/job"
)

// object is a JSON object on a command line: one flag gives the whole object, another gives single
// fields.
type object struct {
	wholeFlag, fieldFlag string
	whole                string
	fields               []string
}

// read returns the object from the flag, a file or standard input, with the single fields added.
func (o object) read(stdin io.Reader) (json.RawMessage, error) {
	text, err := inputText(o.whole, stdin)
	if err != nil {
		return nil, usagef("%s: %w", o.wholeFlag, err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil || values == nil {
		return nil, usagef("%s wants a JSON object%s", o.wholeFlag, o.fault(err))
	}
	if _, err := httpjson.Decode(text); err != nil { // such as a duplicate field
		return nil, err
	}
	if len(o.fields) == 0 {
		return text, nil
	}
	for _, field := range o.fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return nil, usagef("%s wants name=value, not %s", o.fieldFlag, Quoted(field))
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
	if name := strings.TrimSpace(o.whole); looksLikeFile(name) {
		return fmt.Sprintf("; to read the file, write %s %s", o.wholeFlag, Quoted("@"+name))
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
