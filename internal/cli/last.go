package cli

import (
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/job"
)

// lastFile remembers the job run last, which commands mean by default.
func (a *app) lastFile() (string, error) {
	if a.StateDir != "" {
		return filepath.Join(a.StateDir, "last-run"), nil
	}
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "ringback", "last-run"), err
}

// rememberRun is a convenience: that it fails is no reason to fail a run.
func (a *app) rememberRun(id job.ID) {
	file, err := a.lastFile()
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = os.WriteFile(file, []byte(id), 0o600)
}

// lastRun returns the job run last, "" when there is none.
func (a *app) lastRun() job.ID {
	file, err := a.lastFile()
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return job.ID(strings.TrimSpace(string(text)))
}
