package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/sandbox/process"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// hosted returns a repository's host and path on it: "github.com", "org/service". They are empty if
// the address does not contain them.
func hosted(address string) (host, path string) {
	r, err := outbound.ParseRepository(plainURL(address))
	if err != nil {
		return "", ""
	}
	return r.Host, strings.TrimSuffix(strings.Trim(r.Path, "/"), ".git")
}

// compareURL returns the page of a known host for opening a pull request of a branch, or "" for
// other hosts.
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

// openPullRequest sets the URL of a pushed branch's pull request, or of the page for opening one. A
// missing pull request is no failure, because the branch is pushed.
func (w *Workspace) openPullRequest(ctx context.Context, r job.Repository, o PublishOptions, done *job.Finalized) {
	host, path := hosted(r.URL)
	gh, err := lookPath(w.root.Environ, "gh")
	if host == "github.com" && err == nil && w.root.mayLogIn(r) {
		g := github{w: w, of: r, bin: gh, repository: host + "/" + path, opts: o}
		ref, _, err := beginning(ctx, w.local(w.trustedRepo(r)), r)
		base, isBranch := strings.CutPrefix(ref, branches)
		if !isBranch { // the repository's default: a tag is no base
			base = ""
		}
		if !isOwn(err) {
			err = repeat(ctx, publishFor, "Opening a pull request of "+r.Name, o.Report, g.refused, func() error {
				if err := o.MayFunc(ctx, *done); err != nil {
					return err
				}
				address, err := g.pullRequest(ctx, base)
				done.URL = cmp.Or(address, done.URL)
				return err
			})
		}
		if err != nil {
			done.Note = strings.TrimSpace(done.Note + "\nNo pull request was opened: " + err.Error())
		}
	}
	if done.URL == "" {
		done.CompareURL = compareURL(r.URL, o.branch)
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

type github struct {
	w          *Workspace
	of         job.Repository
	bin        string
	repository string // host/owner/name
	opts       PublishOptions
}

// pullRequest returns the pull request of the job's branch. It does not open a second one: an
// earlier call may have been killed before it could report the pull request. base is the target
// branch; empty means the repository's default.
func (g github) pullRequest(ctx context.Context, base string) (string, error) {
	if known, err := g.find(ctx); known != "" || err != nil {
		return known, err
	}
	title, body, _ := strings.Cut(g.opts.Message, "\n")
	args := []string{"pr", "create", "--repo", g.repository, "--head", g.opts.branch, "--title", title, "--body-file", "-"}
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

// find returns the open pull request of the job's branch, or "" if none exists. A pull request of a fork
// is not the job's, because anyone can give a branch of a fork the same name; however many there are, they
// do not hide the job's own.
func (g github) find(ctx context.Context) (string, error) {
	out, err := g.run(
		ctx, "", "pr", "list", "--repo", g.repository, "--head", g.opts.branch, "--state", "open", "--limit", "1000",
		"--json", "url,isCrossRepository",
	)
	if err != nil {
		return "", err
	}
	var open []struct {
		URL    string `json:"url"`
		OfFork bool   `json:"isCrossRepository"`
	}
	if err := json.Unmarshal([]byte(out), &open); err != nil {
		return "", fmt.Errorf("gh pr list: %w", err)
	}
	for _, found := range open {
		if !found.OfFork {
			return found.URL, nil
		}
	}
	return "", nil
}

type ghError struct{ command, output string }

func (e *ghError) Error() string { return "gh " + e.command + ": " + e.output }

// run runs gh outside the repositories, because their content is hostile.
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

// passes matches gh's errors that a retry may resolve.
var passes = lazy.Regexp(
	`(?i)HTTP 5\d\d|time(d )?out|connection (refused|reset)|temporar|could not resolve host|unexpected EOF|signal|rate limit`,
)

func (github) refused(err error) bool {
	failed, ok := errors.AsType[*ghError](err)
	return !ok || failed.output != "" && !passes().MatchString(failed.output)
}
