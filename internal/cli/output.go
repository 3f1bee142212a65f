package cli

import (
	"io"
	"sync"

	"github.com/spf13/cobra"
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
