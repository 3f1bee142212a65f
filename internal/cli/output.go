package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"

	"ringback/internal/text/literal"
)

// output is the standard output of a command. It remembers the first error of a write, because most
// of what is printed for people ignores errors.
type output struct {
	io.Writer
	mu   sync.Mutex
	err  error
	stop func() // called at that error, if set
}

// Write implements io.Writer. After an error, it writes nothing more.
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.Writer.Write(text)
	if o.err = err; err != nil && o.stop != nil {
		o.stop()
	}
	return n, err
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// stopOnFailure has stop called when the output of a command can no longer be written.
func stopOnFailure(cmd *cobra.Command, stop func()) {
	if o, ok := cmd.Root().OutOrStdout().(*output); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.stop = stop
	}
}

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
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
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

// jsonWriter writes JSON with \u escapes for characters that control a terminal or change how text
// is displayed. They occur only in strings, where both forms mean the same. It does so for programs, too:
// what they pass on may reach a terminal.
type jsonWriter struct{ io.Writer }

func (w jsonWriter) Write(text []byte) (int, error) {
	var escaped strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n', r == '\t', !literal.Hidden(r): // white space is the JSON's own
			escaped.WriteRune(r)
			continue
		case r == '\r': // that, too, but it moves the cursor
			escaped.WriteByte(' ')
			continue
		}
		literal.WriteEscape(&escaped, r)
	}
	_, err := io.WriteString(w.Writer, escaped.String())
	return len(text), err
}
