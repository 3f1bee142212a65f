package cli

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

// staleAfter is the age after which what was kept is removed.
const staleAfter = 30 * 24 * time.Hour

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

// seenDir is the directory with what was last shown of each job's change. A decision refers to it, so
// that a person approves only what they have looked at.
const seenDir = "seen"

// rememberSeen records what was shown. It ignores errors; the decision then refers to what is under
// review when it is made.
func (a *app) rememberSeen(id job.ID, seen client.Seen) {
	if text, err := json.Marshal(seen); err == nil && len(seen.Trees) > 0 {
		_ = a.writeState(seenDir, filepath.Base(string(id)), text)
	}
}

// seen identifies what the person has seen: the question and, for a code change, the diff shown
// last, or the one in the job's record if none was shown.
func (a *app) seen(j job.Job) client.Seen {
	if j.Checkpoint == nil {
		return client.Seen{}
	}
	var seen client.Seen
	if underReview(j) && json.Unmarshal(a.kept(seenDir, filepath.Base(string(j.ID))), &seen) != nil {
		seen = seenInReview(j)
	}
	seen.CheckpointID = j.Checkpoint.ID
	return seen
}

func seenInReview(j job.Job) client.Seen {
	props := decoded[job.Props](j.Checkpoint.Props)
	if len(props.Trees) == 0 {
		return client.Seen{}
	}
	return client.Seen{Iteration: &props.Iteration, Trees: props.Trees}
}

func seenInDiff(list []job.DiffOutput) client.Seen {
	seen := client.Seen{Trees: map[string]string{}}
	for _, d := range list {
		if d.Tree != "" {
			seen.Iteration, seen.Trees[d.Repository] = &d.Iteration, d.Tree
		}
	}
	return seen
}

// lastRuns is the directory with the last job run from each terminal on each server. Commands use
// this job if none is named. Other terminals and servers have their own files, so that no approval
// goes to a job that was run elsewhere.
const lastRuns = "last-run"

// here identifies this terminal and server.
func (a *app) here() string {
	return job.Digest([]byte(sameServer(a.api.URL()) + "\n" + a.Terminal))[:32]
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

func (a *app) lastRun() job.ID {
	return job.ID(strings.TrimSpace(string(a.kept(lastRuns, a.here()))))
}
