package cli

import (
	"bufio"
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// keyboard reads what a person types, line by line. It begins to read only once there is something: a
// question may be withdrawn, and what is typed afterwards is meant for the next program.
type keyboard struct {
	in *bufio.Reader
	// file is what is read; nil if it is no file, which holds all of its text already.
	file *os.File
}

// forget discards what was typed so far: it cannot be meant as the answer to a question that is yet to
// be shown.
func (k *keyboard) forget() {
	if k.file != nil && typed(k.file) {
		discardTyped(int(k.file.Fd()))
		k.in.Reset(k.file)
	}
}

// line returns the next line, or the error of ctx if that ends first. It is not safe for concurrent use.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if k.file != nil && k.in.Buffered() == 0 {
		if err := k.wait(ctx); err != nil {
			return "", err
		}
	}
	return k.in.ReadString('\n')
}

// wait returns once something can be read.
func (k *keyboard) wait(ctx context.Context) error {
	ended, end, err := os.Pipe() // ended can be read once ctx has ended
	if err != nil {
		return err
	}
	defer ended.Close()
	defer end.Close()
	defer context.AfterFunc(ctx, func() { _ = end.Close() })()
	in, stop := int(k.file.Fd()), int(ended.Fd())
	for {
		var ready unix.FdSet
		ready.Set(in)
		ready.Set(stop)
		_, err := unix.Select(max(in, stop)+1, &ready, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && ready.IsSet(stop):
			return ctx.Err()
		}
		return err
	}
}
