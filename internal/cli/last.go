package cli

import (
	"net/url"
	"strings"

	"ringback/internal/job"
)

// lastRuns is the directory with the last job run from each terminal on each server. Commands use
// this job if none is named. Other terminals and servers have their own files, so that no approval
// goes to a job that was run elsewhere.
const lastRuns = "last-run"

// here identifies this terminal and server.
func (a *app) here() string {
	return job.Digest([]byte(sameServer(a.client().URL()) + "\n" + a.Terminal))[:32]
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

// lastRun returns the last job run, or "" if there is none.
func (a *app) lastRun() job.ID {
	return job.ID(strings.TrimSpace(string(a.kept(lastRuns, a.here()))))
}
