package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ringback/internal/excerpt"
	"ringback/internal/lazy"
	"ringback/internal/limit"
	"ringback/internal/outbound"
	"ringback/internal/process"
)

// git runs the real git with nothing of the user's configuration, no hooks and no
// questions.
type git struct {
	dir string
	env []string
	// flags go behind safeGitFlags.
	flags []string
	// guarded is the remote that this git may reach, and no other; nil: any.
	guarded *outbound.Repository
	// proxy leads to it.
	proxy *outbound.Proxy
	// path is whether its remote is a directory of this machine.
	path bool
	// sandbox confines it to room; the zero one where it needs the user's own logins.
	sandbox process.Sandbox
	room    process.Room
}

// gitLimits are what a git in a sandbox may take: an object that is small in a pack may be
// as large as it likes unpacked.
var gitLimits = limit.Limits{Memory: 8 * limit.GiB}.Or(limit.Defaults)

// baseEnv also ends what hears nothing of an HTTP server for a minute.
var baseEnv = []string{"GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=60", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C.UTF-8"}

// local is a git that touches nothing but files, in a room without a network.
func (root Root) local(dir string, room process.Room) git {
	return git{dir: dir, sandbox: root.Sandbox, room: room, env: slices.Concat(process.Pick(root.Environ, process.Basics), baseEnv, []string{"HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"})}
}

// local is a git that sees the job's repositories and the mirrors that they came from.
func (w *Workspace) local(dir string) git {
	return w.root.local(dir, process.Room{Writable: []string{w.dir}, Readable: existing(w.root.mirrorsDir())})
}

// existing are those of some places that are there.
func existing(places ...string) []string {
	return slices.DeleteFunc(places, func(place string) bool {
		_, err := os.Stat(place)
		return err != nil
	})
}

// remote is a git that may talk to others, as the user does.
func remote(environ []string, dir string) git {
	return git{dir: dir, env: slices.Concat(process.Pick(environ, process.Basics, process.Person, process.Certificates, process.Proxies, process.Remotes), baseEnv)}
}

// with adds to the environment.
func (g git) with(env ...string) git {
	g.env = slices.Concat(g.env, env)
	return g
}

// safeGitFlags are settings that go before what any repository says, submodules included.
// Directories may be those of the user of the jobs: which ones git enters is ours to say.
var safeGitFlags = []string{
	"-c", "safe.directory=*",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "protocol.ext.allow=never",
	"-c", "diff.ignoreSubmodules=dirty", "-c", "advice.addEmbeddedRepo=false", "-c", "core.untrackedCache=false", "-c", "gc.auto=0",
}

func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(safeGitFlags, g.flags, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, 5*time.Second
	// A git that outlives its server is ended by the next one. Not so a push: to kill
	// what writes to somebody's repository would leave its locks there.
	if args[0] != "push" {
		cmd.Env = append(slices.Clone(g.env), process.MarkerVar+"="+process.OwnMarker("git"))
	}
	return cmd
}

// removeLocks removes what a git that was killed has left in a repository of ours,
// where no other git works now.
func removeLocks(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			err = root.Remove(path)
		}
		return err
	})
}

// run returns what git prints; its error holds what git says, without passwords.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := g.pipe(ctx, &out, args...)
	return out.String(), err
}

func (g git) pipe(ctx context.Context, out io.Writer, args ...string) error {
	return g.do(ctx, nil, out, args...)
}

// feed gives git something to read.
func (g git) feed(ctx context.Context, input []byte, args ...string) error {
	return g.do(ctx, bytes.NewReader(input), io.Discard, args...)
}

// remoteTimeout is how long one command may talk to another host.
const remoteTimeout = 30 * time.Minute

// errSilent is why git is ended that talks to another host for longer.
var errSilent = errors.New("the host of the repository took too long")

// talks reports whether a command of git's talks to its remote.
func talks(command string) bool {
	return slices.Contains([]string{"clone", "fetch", "ls-remote", "push", "submodule"}, command)
}

func (g git) do(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	if talks(args[0]) {
		limited, cancel := context.WithTimeoutCause(ctx, remoteTimeout, errSilent)
		defer cancel()
		ctx = limited
	}
	g, done, err := g.guard(ctx)
	if err != nil {
		return err
	}
	return done(g.exec(ctx, in, out, args...))
}

func (g git) exec(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	cmd := g.command(ctx, args...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	err := g.sandbox.RunBriefly(cmd, g.room, gitLimits)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	output := strings.TrimSpace(errs.String())
	failed := gitError{command: args[0], code: -1}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.code = ended.ExitCode()
	}
	if failed.code < 0 || output == "" {
		output = err.Error()
	}
	failed.output = excerpt.Head(redacted(output), 1000)
	return &failed
}

// gitError is that git failed, and what it printed.
type gitError struct {
	command, output string
	code            int // its exit code; -1 when it did not exit by itself
}

func (e *gitError) Error() string { return "git " + e.command + ": " + e.output }

var userinfo = lazy.Regexp(`([a-z][a-z0-9+.-]*://)[^/@\s]+@`)

// redacted drops user names and passwords from the URLs of a text.
func redacted(text string) string { return userinfo().ReplaceAllString(text, "$1") }

// plainURL is an address without user name and password.
func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Host == "" {
		return redacted(address)
	}
	u.User = nil
	return u.String()
}
