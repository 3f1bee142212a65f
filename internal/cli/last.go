package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/job"
)

// lastFile remembers the job run last, which commands mean by default.
func lastFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "ringback", "last-run"), err
}

// rememberRun is a convenience: that it fails is no reason to fail a run.
func rememberRun(id job.ID) {
	file, err := lastFile()
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = os.WriteFile(file, []byte(id), 0o600)
}

func lastRun() job.ID {
	file, err := lastFile()
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return job.ID(strings.TrimSpace(string(text)))
}

func printLine(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(text))
	return err
}
