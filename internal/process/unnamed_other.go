//go:build unix && !linux

package process

import (
	"errors"
	"os"
)

// unnamedFile returns a file with a text that disappears when it is closed.
func unnamedFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ringback-stdin-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteString(text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
