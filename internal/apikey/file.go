package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Add creates a key, appends its line to a file of keys, and returns the key. If the file
// does not exist, it is created, readable by its owner only. A file with errors is not
// changed.
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
	// A single write, so that a server reading concurrently sees all of it or nothing.
	_, err = out.WriteString(addition)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", file, errors.Unwrap(err))
	}
	return text, nil
}

// OthersMayWrite reports whether a file of keys is world-writable, so that any user of the
// machine could add a key.
func OthersMayWrite(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
