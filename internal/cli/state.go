package cli

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// staleAfter is the age after which what was kept is removed.
const staleAfter = 30 * 24 * time.Hour

// stateFile returns the path of a file with the command line's state.
func (a *app) stateFile(parts ...string) (string, error) {
	dir := a.StateDir
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(config, "ringback")
	}
	return filepath.Join(append([]string{dir}, parts...)...), nil
}

// writeState stores a text under a name, and removes those in the same directory that have not been used
// for staleAfter.
func (a *app) writeState(dir, name string, text []byte) error {
	file, err := a.stateFile(dir, name)
	if err != nil {
		return err
	}
	entries, _ := os.ReadDir(filepath.Dir(file)) // none before the first
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(file), e.Name()))
		}
	}
	return replaceFile(file, text)
}

// kept returns a text that was stored; nil if there is none.
func (a *app) kept(dir, name string) []byte {
	file, _ := a.stateFile(dir, name)
	text, _ := os.ReadFile(file)
	return text
}

// replaceFile writes a file atomically, readable by its owner only.
func replaceFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(file), "next-*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
