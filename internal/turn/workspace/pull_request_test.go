package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// fakeGH stands in for gh. It stores created pull requests in a file and records its arguments. A stranger
// may have opened pull requests of a fork's branch with the same name.
const fakeGH = `#!/bin/sh
printf '%s\n' "$*" >> "$FAKE/calls"
[ -e "$FAKE/logged-out" ] && { echo 'To get started with GitHub CLI, please run: gh auth login' >&2; exit 4; }
case "$1 $2" in
'pr list')
	most=30 # unless it is asked for more
	case "$*" in *'--limit 1000'*) most=1000 ;; esac
	{
		[ -e "$FAKE/forks" ] && yes '{"url":"https://github.com/org/service/pull/8","isCrossRepository":true}' | head -n 40
		[ -e "$FAKE/pr" ] && echo '{"url":"https://github.com/org/service/pull/7","isCrossRepository":false}'
	} | head -n "$most" | paste -sd , | sed 's/.*/[&]/' ;;
'pr create')
	[ -e "$FAKE/flaky" ] && { rm "$FAKE/flaky"; echo 'HTTP 502: Bad Gateway' >&2; exit 1; }
	[ -e "$FAKE/dies" ] && { rm "$FAKE/dies"; touch "$FAKE/pr"; kill -9 $$; }
	[ -e "$FAKE/pr" ] && { echo 'a pull request for branch already exists' >&2; exit 1; }
	touch "$FAKE/pr"; cat > "$FAKE/body"; echo 'https://github.com/org/service/pull/7' ;;
esac
`

// hosted returns a workspace of a repository with an address on a host, for which git uses a local
// bare repository, and the directory of the fake gh.
func hosted(t *testing.T, address string, withGH bool) (w *workspace.Workspace, fake string) {
	t.Helper()
	bare, home := repo(t, map[string]string{"a": "a\n"}), t.TempDir()
	fake = t.TempDir()
	write(t, filepath.Join(home, ".gitconfig"), "[url \""+bare+"\"]\n\tinsteadOf = "+strings.Replace(address, "user:secret@", "", 1)+"\n") // git is given no password
	path := os.Getenv("PATH")
	if withGH { // the server's variables that could pass the directory do not reach gh
		executable(t, filepath.Join(fake, "gh"), strings.ReplaceAll(fakeGH, "$FAKE", fake))
		path = fake + ":" + path
	}
	environ := []string{"PATH=" + path, "HOME=" + home}
	named := must.Get(workspace.Named([]job.Repository{{URL: address}}))(t)
	w = workspace.Root{Dir: t.TempDir(), Environ: environ}.Of("req_1", named)
	must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	write(t, filepath.Join(w.Dir(), "service", "b"), "b\n")
	return w, fake
}

func publish(t *testing.T, w *workspace.Workspace) job.Finalized {
	t.Helper()
	return published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Add b\n\nIt was missing.", PullRequest: true})[0]
}

func TestPullRequest(t *testing.T) {
	t.Parallel()
	const address, url = "https://github.com/org/service.git", "https://github.com/org/service/pull/7"
	for name, trouble := range map[string]string{
		"at once": "", "after a failure that passes": "flaky", "made by one that was killed": "dies", "beside a stranger's of forks": "forks",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, fake := hosted(t, address, true)
			if trouble != "" {
				write(t, filepath.Join(fake, trouble), "")
			}
			for try := range 2 { // repeated, as after a restart
				if done := publish(t, w); done.Error != "" || done.URL != url || done.Branch != "ringback/req_1" {
					t.Errorf("try %d: %+v", try, done)
				}
			}
			calls := must.Get(os.ReadFile(filepath.Join(fake, "calls")))(t)
			want := map[string]int{"": 1, "flaky": 2, "dies": 1, "forks": 1}[trouble]
			must.Equal(t, want, strings.Count(string(calls), "pr create --repo github.com/org/service --head ringback/req_1 --title Add b --body-file -\n"), "gh was called", calls)
			if body, _ := os.ReadFile(filepath.Join(fake, "body")); trouble != "dies" && string(body) != "It was missing." {
				t.Errorf("the body is %q", body)
			}
		})
	}
}

// If no pull request can be opened, the branch is pushed, and the result contains the page for
// opening one, if known.
func TestWithoutPullRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, compare string
		gh, loggedOut          bool
	}{
		{"no gh", "https://github.com/org/service.git", "https://github.com/org/service/compare/ringback/req_1?expand=1", false, false},
		{"gh that is not signed in", "git@github.com:org/service.git", "https://github.com/org/service/compare/ringback/req_1?expand=1", true, true},
		{"GitLab", "ssh://git@gitlab.com/group/sub/service.git", "https://gitlab.com/group/sub/service/-/merge_requests/new?merge_request%5Bsource_branch%5D=ringback%2Freq_1", true, false},
		{"Bitbucket", "https://user:secret@bitbucket.org/org/service", "https://bitbucket.org/org/service/pull-requests/new?source=ringback%2Freq_1", false, false},
		{"another host", "https://git.example.com/org/service.git", "", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, fake := hosted(t, c.address, c.gh)
			if c.loggedOut {
				write(t, filepath.Join(fake, "logged-out"), "")
			}
			done := publish(t, w)
			if done.Error != "" || done.Commit == "" || done.URL != "" || done.CompareURL != c.compare {
				t.Errorf("%+v", done)
			}
			must.Equal(t, c.loggedOut, strings.Contains(done.Note, "gh auth login"), "the note is", done.Note)
		})
	}
}
