package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/itchyny/gojq"
)

// filter writes the results of a jq expression for each JSON value written to it, one per line:
// strings without quotes, anything else as JSON.
type filter struct {
	io.Writer
	query *gojq.Code
	// clean is set if strings must not control a terminal.
	clean bool
}

// newFilter compiles a jq expression. If w is a terminal, results cannot control it.
func (a *app) newFilter(w io.Writer) (*filter, error) {
	parsed, err := gojq.Parse(a.jq)
	if err != nil {
		return nil, usagef("--jq: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, usagef("--jq: %w", err)
	}
	return &filter{w, code, a.columns(w) > 0}, nil
}

func (f *filter) Write(text []byte) (int, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		var value any
		err := dec.Decode(&value)
		if errors.Is(err, io.EOF) {
			return len(text), nil
		}
		if err == nil {
			err = f.write(value)
		}
		if err != nil {
			return 0, err
		}
	}
}

func (f *filter) write(value any) error {
	for results := f.query.Run(value); ; {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := result.(error); failed {
			if halt, ok := err.(*gojq.HaltError); ok && halt.Value() == nil { //nolint:errorlint // as gojq's documentation has it
				return nil
			}
			return usagef("--jq: %w", err)
		}
		if text, ok := result.(string); ok {
			if f.clean {
				text = cleanLines(text)
			}
			if _, err := io.WriteString(f.Writer, text+"\n"); err != nil {
				return err
			}
			continue
		}
		text, err := gojq.Marshal(result)
		if err != nil {
			return err
		}
		if _, err := (jsonWriter{f.Writer}).Write(append(text, '\n')); err != nil {
			return err
		}
	}
}
