package cli

import (
	"encoding/json"
	"io"
	"os"
	"strings"
)

// readInput takes the input from a flag, a file or standard input, and adds
// single fields.
func readInput(input string, fields []string, stdin io.Reader) (json.RawMessage, error) {
	text, err := inputText(input, stdin)
	if err != nil {
		return nil, usagef("--input: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, usagef("--input wants a JSON object%s", why(err))
	}
	if len(fields) == 0 {
		return text, nil
	}
	for _, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return nil, usagef("--field wants name=value, not %q", field)
		}
		if object[name], err = fieldValue(value); err != nil {
			return nil, usagef("--field %s: %w", name, err)
		}
	}
	return json.Marshal(object)
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

// fieldValue takes numbers, lists and the like as JSON, anything else as text.
func fieldValue(value string) (json.RawMessage, error) {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value), nil
	}
	return json.Marshal(value)
}

func why(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
