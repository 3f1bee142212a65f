package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Add makes a key, adds its line to a file of keys, and returns the key. The file is made
// where there is none, for its owner alone. A file that is not in order stays as it is.
func Add(file, name string, expires time.Time) (string, error) {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be read: %w", file, errors.Unwrap(err))
	}
	text, key := New(name, expires)
	addition := key.Line() + "\n"
	if len(before) > 0 && before[len(before)-1] != '\n' {
		addition = "\n" + addition
	}
	if _, err := Parse(append(before, addition...)); err != nil {
		return "", fmt.Errorf("nothing was added to %s:\n%w", file, err)
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", file, errors.Unwrap(err))
	}
	// In one piece, so that a server that reads meanwhile sees all of it or nothing.
	_, err = out.WriteString(addition)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", file, errors.Unwrap(err))
	}
	return text, nil
}

// OthersMayWrite reports whether anybody on the machine may write into a file of keys,
// and so let in whom they like.
func OthersMayWrite(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
