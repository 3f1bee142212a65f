package cli

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ringback/internal/job"
)

// staleAfter is when a terminal that has run nothing is taken to be gone.
const staleAfter = 30 * 24 * time.Hour

// lastFile holds the job that was run last from this terminal on this server,
// which commands mean where no job is named. Other windows, and other servers,
// have their own: nobody's approval goes to a job run elsewhere.
func (a *app) lastFile() (string, error) {
	dir, err := a.stateDir()
	if err != nil {
		return "", err
	}
	name := job.Digest([]byte(sameServer(a.client().URL()) + "\n" + a.Terminal))[:32]
	return filepath.Join(dir, "last-run", name), nil
}

// stateDir is where the command line keeps what it remembers.
func (a *app) stateDir() (string, error) {
	if a.StateDir != "" {
		return a.StateDir, nil
	}
	config, err := os.UserConfigDir()
	return filepath.Join(config, "ringback"), err
}

// sameServer is an address in the form that its other spellings share.
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

// rememberRun is a convenience: that it fails is no reason to fail a run.
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

// forgetStale removes what terminals that are gone have left.
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
