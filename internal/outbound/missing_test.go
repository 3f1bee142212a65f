package outbound_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/outbound"
	"ringback/test/must"
)

// A path without a repository is recognized when the job is asked for; one that git can clone is not refused.
func TestAPathWithoutARepositoryIsRecognized(t *testing.T) {
	t.Parallel()
	const file, directory, missing = "is a file", "is a directory without a repository", "does not exist"
	for name, c := range map[string]struct {
		// make makes "named" next to the repository main; says is a part of the fault, empty if there is none.
		make, says string
	}{
		"nothing":                               {"", missing},
		"a link to nothing":                     {"ln -s nowhere named", missing},
		"a link to itself":                      {"ln -s named named", missing},
		"a file":                                {"echo text >named", file},
		"an empty file":                         {": >named", file},
		"a pipe":                                {"mkfifo named", file},
		"a link to a device":                    {"ln -s /dev/zero named", file},
		"an empty directory":                    {"mkdir named", directory},
		"a link to an empty directory":          {"mkdir x; ln -s x named", directory},
		"a directory of files":                  {"mkdir named; cp -r main/* named 2>/dev/null || true", directory},
		"an empty .git":                         {"mkdir -p named/.git", directory},
		"a .git without objects":                {"git clone -q main named; rm -r named/.git/objects", directory},
		"a .git without HEAD":                   {"git clone -q main named; rm named/.git/HEAD", directory},
		"a .git that is a pipe":                 {"mkdir named; mkfifo named/.git", directory},
		"a worktree whose repository is gone":   {"git clone -q main away; git -C away worktree add -q ../named; rm -rf away", directory},
		"a file of a .git that leads to itself": {"mkdir named; echo 'gitdir: .git' >named/.git", directory},
		"a directory in a repository":           {"mkdir -p main/a/b; ln -s main/a/b named", `is a directory in the repository "`},
		"a file in a repository":                {"echo x >main/file; ln -s main/file named", file},
		"a clone":                               {"git clone -q main named", ""},
		"a link to a clone":                     {"ln -s main named", ""},
		"the .git of a clone":                   {"ln -s main/.git named", ""},
		"a bare clone":                          {"git clone -q --bare main named", ""},
		"a bare clone, without its ending":      {"git clone -q --bare main named.git", ""},
		"a clone, without its ending":           {"git clone -q main named.git", ""},
		"a bare clone, next to a directory":     {"git clone -q --bare main named.git; mkdir named", ""},
		"a linked worktree":                     {"git -C main worktree add -q ../named", ""},
		"the .git of a linked worktree":         {"git -C main worktree add -q ../tree; cp tree/.git named", ""},
		"a relative .git of a linked worktree":  {"git -C main worktree add -q ../tree; echo 'gitdir: main/.git/worktrees/tree' >named", ""},
		"a shared clone":                        {"git clone -q --shared main named", ""},
		"a git directory elsewhere":             {"git clone -q --separate-git-dir elsewhere main named", ""},
		"a repository without a commit":         {"git init -q named", ""},
		"a bundle":                              {"git -C main bundle create -q ../named HEAD", ""},
		"packed refs alone":                     {"git clone -q main named; git -C named pack-refs --all", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := made(t, c.make)
			named, local := filepath.Join(top, "named"), outbound.Policy{Paths: []string{top}, Local: true}
			for _, address := range []string{named, named + "/", "file://" + named, filepath.Dir(named) + "/./named"} {
				if address == named+"/" && strings.Contains(c.make, "named.git") {
					continue // git does not find it either
				}
				fault := local.Missing(address)
				must.Contain(t, fault, c.says, address)
				must.Equal(t, c.says == "", fault == "", address, fault)
				must.Equal(t, "", outbound.Policy{Paths: []string{top}}.Missing(address), address, "on another machine")
			}
			ls := exec.Command("timeout", "10", "git", "ls-remote", named)
			ls.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+top)
			out, err := ls.CombinedOutput()
			must.Equal(t, err == nil, c.says == "", "git", string(out))
		})
	}
	for _, address := range []string{"https://host.example/nope", "git@host.example:nope", "ssh://git@host.example/nope", "http://x/y", "ext::x"} {
		must.Equal(t, "", outbound.Policy{Open: true, Local: true}.Missing(address), address)
	}
}

// A repository above a directory is named only to those who may name it.
func TestNoRepositoryIsNamedThatMayNotBe(t *testing.T) {
	t.Parallel()
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	below := filepath.Join(top, "below")
	must.OK(t, os.MkdirAll(filepath.Join(top, ".git"), 0o700), os.Mkdir(below, 0o700))
	must.Contain(t, outbound.Policy{Paths: []string{below}, Local: true}.Missing(below), "is a directory without a repository")
	must.Contain(t, outbound.Policy{Open: true, Local: true}.Missing(below), "name that one")
}
