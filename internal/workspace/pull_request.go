package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lazy"
	"ringback/internal/process"
)

var scpLike = lazy.Regexp(`^(?:[^@/:]+@)?([^/:]+):([^/].*)$`)

// hosted is where a repository is on its host: "github.com", "org/service"; empty
// where its address does not tell.
func hosted(address string) (host, path string) {
	if parts := scpLike().FindStringSubmatch(address); parts != nil && !strings.Contains(address, "://") {
		host, path = parts[1], parts[2]
	} else if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path = u.Hostname(), u.Path
	}
	return strings.ToLower(host), strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// compareURL is the page of a known host where a pull request of a branch is
// opened; "" for others.
func compareURL(address, branch string) string {
	host, path := hosted(address)
	switch host {
	case "github.com":
		return "https://github.com/" + path + "/compare/" + branch + "?expand=1"
	case "gitlab.com":
		return "https://gitlab.com/" + path + "/-/merge_requests/new?" + url.Values{"merge_request[source_branch]": {branch}}.Encode()
	case "bitbucket.org":
		return "https://bitbucket.org/" + path + "/pull-requests/new?" + url.Values{"source": {branch}}.Encode()
	}
	return ""
}

// openPullRequest fills in where the pull request of a pushed branch is, or where
// one can be opened. That there is none is no failure: the branch is pushed.
func (w *Workspace) openPullRequest(ctx context.Context, r job.Repository, o PublishOptions, done *job.Finalized) {
	host, path := hosted(r.URL)
	gh, err := lookPath(w.root.Environ, "gh")
	if host == "github.com" && err == nil && w.root.mayLogIn(r) {
		g := github{w: w, of: r, bin: gh, repository: host + "/" + path, opts: o}
		err = repeat(ctx, "Opening a pull request of "+r.Name, o.Report, g.refused, func() (err error) {
			if err = o.may(ctx); err == nil {
				done.URL, err = g.pullRequest(ctx, r.Branch)
			}
			return err
		})
		if err != nil {
			done.Note = "No pull request was opened: " + err.Error()
		}
	}
	if done.URL == "" {
		done.CompareURL = compareURL(r.URL, o.Branch())
	}
}

// lookPath finds a program on the PATH of an environment.
func lookPath(environ []string, name string) (string, error) {
	for _, dir := range filepath.SplitList(process.Value(environ, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// github opens pull requests by gh, GitHub's command line.
type github struct {
	w          *Workspace
	of         job.Repository
	bin        string
	repository string // host/owner/name
	opts       PublishOptions
}

// pullRequest returns the pull request of the job's branch. One that is open is
// not opened again: whoever opened it may have been killed before it said so. base
// is where it goes; empty: the repository's own default.
func (g github) pullRequest(ctx context.Context, base string) (string, error) {
	if known, err := g.find(ctx); known != "" || err != nil {
		return known, err
	}
	title, body, _ := strings.Cut(g.opts.Message, "\n")
	args := []string{"pr", "create", "--repo", g.repository, "--head", g.opts.Branch(), "--title", title, "--body-file", "-"}
	if base != "" {
		args = append(args, "--base", base)
	}
	out, err := g.run(ctx, strings.TrimSpace(body), args...)
	if err == nil {
		return lastAddress(out), nil
	}
	if known, _ := g.find(ctx); known != "" {
		return known, nil
	}
	return "", err
}

// find returns the open pull request of the job's branch, "" when there is none.
func (g github) find(ctx context.Context) (string, error) {
	out, err := g.run(ctx, "", "pr", "list", "--repo", g.repository, "--head", g.opts.Branch(), "--state", "open", "--json", "url")
	if err != nil {
		return "", err
	}
	var open []struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(out), &open); err != nil {
		return "", fmt.Errorf("gh pr list: %w", err)
	}
	if len(open) == 0 {
		return "", nil
	}
	return open[0].URL, nil
}

// ghError is that gh failed, and what it printed.
type ghError struct{ command, output string }

func (e *ghError) Error() string { return "gh " + e.command + ": " + e.output }

// run runs gh beside the repositories, not in one: what lies there is hostile.
func (g github) run(ctx context.Context, input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, VerifierTimeout, errTooLong)
	defer cancel()
	ended, err := process.Run(ctx, process.Command{
		Args: append([]string{g.bin}, args...), Dir: g.w.dir, Marker: g.opts.Marker, Stdin: []byte(input), OutputLimit: verifierOutput,
		Env: append(g.w.finalizerEnv(g.of), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GIT_DIR=/nonexistent"),
	})
	if err != nil {
		return "", err
	}
	if ended.Code != 0 {
		return "", &ghError{args[0] + " " + args[1], excerpt.Tail(redacted(strings.TrimSpace(ended.Stderr+"\n"+ended.Stdout)), 1000)}
	}
	return ended.Stdout, nil
}

// passes is what gh says where trying again may help.
var passes = lazy.Regexp(`(?i)HTTP 5\d\d|time(d )?out|connection (refused|reset)|temporar|could not resolve host|unexpected EOF|signal|rate limit`)

// refused reports whether GitHub, or gh itself, will not do it.
func (github) refused(err error) bool {
	failed, ok := errors.AsType[*ghError](err)
	return !ok || failed.output != "" && !passes().MatchString(failed.output)
}
