package cli

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ringback/internal/job"
)

// staleAfter is the age after which the state of a terminal is removed.
const staleAfter = 30 * 24 * time.Hour

// lastFile returns the path of the file with the last job run from this terminal on this server.
// Commands use this job if none is named. Other terminals and servers have their own files, so that
// no approval goes to a job that was run elsewhere.
func (a *app) lastFile() (string, error) {
	dir, err := a.stateDir()
	if err != nil {
		return "", err
	}
	name := job.Digest([]byte(sameServer(a.client().URL()) + "\n" + a.Terminal))[:32]
	return filepath.Join(dir, "last-run", name), nil
}

// stateDir returns the directory of the command line's state.
func (a *app) stateDir() (string, error) {
	if a.StateDir != "" {
		return a.StateDir, nil
	}
	config, err := os.UserConfigDir()
	return filepath.Join(config, "ringback"), err
}

// sameServer normalises an address, so that its spellings compare equal.
func sameServer(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host := u.Hostname()
	if host == "localhost" || host == "::1" {
		host = "127.0.0.1"
	}
	return strings.ToLower(u.Scheme + "://" + host + ":" + u.Port() + u.Path)
}

// rememberRun records the last job. It is a convenience; callers do not fail if it fails.
func (a *app) rememberRun(id job.ID) error {
	file, err := a.lastFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	forgetStale(filepath.Dir(file))
	return os.WriteFile(file, []byte(id), 0o600)
}

// forgetStale removes the state of terminals that have not been used for staleAfter.
func forgetStale(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// lastRun returns the last job run, or "" if there is none.
func (a *app) lastRun() job.ID {
	file, _ := a.lastFile()
	text, _ := os.ReadFile(file) // nothing if there is no file
	return job.ID(strings.TrimSpace(string(text)))
}
