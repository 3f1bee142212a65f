package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// git runs the real git without hooks or prompts. It reads the user's configuration only for
// remotes.
type git struct {
	dir string
	env []string
	// flags follow safeGitFlags.
	flags []string
	// guarded is the only remote that this git can reach; nil means any.
	guarded *outbound.Repository
	proxy   *outbound.Proxy
	// remote is true if it can access remotes.
	remote bool
	// path is true if its remote is a directory of this machine.
	path bool
	// sandbox confines it to access; the zero value if it needs the user's logins.
	sandbox process.Sandbox
	access  process.Access
}

// gitLimits are the resource limits of a git in a sandbox. An object that is small in a pack can be
// arbitrarily large when unpacked.
var gitLimits = limit.Limits{Memory: 8 * limit.GiB}.Or(limit.Defaults)

// baseEnv also ends HTTP transfers that stall for a minute.
var baseEnv = []string{
	"GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=60", "GIT_TERMINAL_PROMPT=0",
	"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C.UTF-8",
}

// local returns a git that accesses only files, without a network.
func (root Root) local(dir string, access process.Access) git {
	return git{
		dir: dir, sandbox: root.Sandbox, access: access,
		env: slices.Concat(
			process.Pick(root.Environ, process.Basics), baseEnv,
			[]string{"HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1"},
		),
	}
}

// local returns a git with access to the job's repositories, and to others that it only reads. It reads
// no settings of Claude's: it starts in none of Claude's repositories, or with another GIT_DIR.
func (w *Workspace) local(dir string, readable ...string) git {
	return w.root.local(dir, process.Access{Writable: []string{w.dir}, Readable: readable})
}

// inClone returns a git that starts in a clone of r. It can write to that clone only.
func (w *Workspace) inClone(r job.Repository, dir string) git {
	return w.root.local(dir, process.Access{Writable: []string{dir}, Readable: []string{w.trustedRepo(r)}})
}

// Try returns why git cannot work on this machine, for example because no process can be started; nil if it can.
func (root Root) Try(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ringback-git-")
	if err != nil {
		return err
	}
	defer func() { _ = untrusted.Remove(dir) }()
	_, err = root.local(dir, process.Access{Writable: []string{dir}}).run(ctx, "init", "--quiet")
	return err
}

// Reach returns why git cannot read a repository, as a job would. It asks no one for a login, even on a terminal.
func (root Root) Reach(ctx context.Context, r job.Repository) error {
	dir, err := os.MkdirTemp("", "ringback-git-")
	if err != nil {
		return err
	}
	defer func() { _ = untrusted.Remove(dir) }()
	g, address, err := root.connect(r, dir)
	if err != nil {
		return err
	}
	if process.Value(g.env, "SSH_ASKPASS") == "" {
		g = g.with("SSH_ASKPASS=false")
	}
	_, err = g.with("SSH_ASKPASS_REQUIRE=force").run(ctx, "ls-remote", "--quiet", "--", address, "HEAD")
	return err
}

func existing(places ...string) []string {
	return slices.DeleteFunc(places, func(place string) bool {
		_, err := os.Stat(place)
		return err != nil
	})
}

// remote returns a git that can access remotes with the user's settings and logins.
func remote(environ []string, dir string) git {
	return git{
		dir: dir, remote: true,
		env: slices.Concat(
			process.Pick(environ, process.Basics, process.Person, process.Certificates, process.Proxies, process.Remotes),
			baseEnv,
		),
	}
}

func (g git) with(env ...string) git {
	g.env = slices.Concat(g.env, env)
	return g
}

// safeGitFlags override the settings of every repository, including submodules. Directories may
// belong to the user of the jobs, so safe.directory must not depend on the owner; Ringback decides
// which directories git enters.
var safeGitFlags = []string{
	"-c", "safe.directory=*",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "protocol.ext.allow=never",
	"-c", "diff.ignoreSubmodules=dirty", "-c", "advice.addEmbeddedRepo=false", "-c", "core.untrackedCache=false", "-c", "gc.auto=0",
	// What git would take for the HEAD of a remote whose own leads nowhere may not exist there.
	"-c", "init.defaultBranch=ringback-nowhere",
}

func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(safeGitFlags, g.flags, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, 5*time.Second
	// If a git outlives its server, the next server ends it. This excludes pushes: killing a push
	// would leave locks in the remote repository.
	if args[0] != "push" {
		cmd.Env = append(slices.Clone(g.env), process.MarkerVar+"="+process.OwnMarker("git"))
	}
	return cmd
}

// removeLocks removes the lock files that a killed git has left in one of Ringback's repositories.
// No other git may be running there.
func removeLocks(ctx context.Context, dir string) error {
	return untrusted.Walk(ctx, dir, math.MaxInt, func(e untrusted.Entry, err error) error {
		switch {
		case errors.Is(err, untrusted.ErrTooDeep): // git makes no such directories
			return nil
		case err == nil && !e.IsDir() && strings.HasSuffix(e.Name, ".lock"):
			return e.Dir.Remove(e.Name)
		}
		return err
	})
}

// run returns git's output without its last newline. Its error contains git's error output, without passwords.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := g.do(ctx, nil, &out, args...)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// resolve returns the id of the object with a name; "" if the repository has none.
func (g git) resolve(ctx context.Context, name string) (string, error) {
	id, err := g.run(ctx, "rev-parse", "--verify", "--quiet", name)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
		return "", nil
	}
	return id, err
}

// remoteTimeout limits the time of a command that accesses a remote, localTimeout that of all others:
// git waits without end for a FIFO in place of .gitattributes.
const (
	remoteTimeout = 30 * time.Minute
	localTimeout  = 10 * time.Minute
)

// errSilent and errStuck are the causes of ending a git that exceeds these.
var (
	errSilent = errors.New("the host of the repository took too long")
	errStuck  = errors.New("git took longer than " + localTimeout.String() + " for the files of the repository")
)

func talks(command string) bool {
	return slices.Contains([]string{"clone", "fetch", "ls-remote", "push", "submodule"}, command)
}

// do runs git with an input, which may be nil, and writes its output to out.
func (g git) do(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	limit, tooLong := localTimeout, errStuck
	if talks(args[0]) {
		limit, tooLong = remoteTimeout, errSilent
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	g, done, err := g.guard(ctx)
	if err != nil {
		return err
	}
	return done(g.exec(ctx, in, out, args...))
}

// exec repeats a git that bubblewrap did not start: a file system of the machine may come or go just then.
func (g git) exec(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	err := g.execOnce(ctx, in, out, args...)
	for range 2 {
		if failed, ok := errors.AsType[*gitError](err); !ok || !failed.unstarted || in != nil {
			break
		}
		err = g.execOnce(ctx, in, out, args...)
	}
	return err
}

func (g git) execOnce(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	cmd := g.command(ctx, args...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &errs
	err := g.sandbox.RunBriefly(ctx, cmd, g.access, gitLimits)
	output := strings.TrimSpace(errs.String())
	missed := missedIn(output)
	if err == nil && missed == "" {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := gitError{command: args[0], code: cmd.ProcessState.ExitCode(), remote: g.remote}
	if failed.code < 0 || output == "" {
		output = err.Error()
	}
	if strings.HasPrefix(output, "bwrap: ") { // the code is not git's
		failed.code, failed.unstarted = -1, true
	}
	failed.output = excerpt.Head(redacted(cmp.Or(missed, output)), 1000)
	failed.incomplete = missed != "" || shortage().MatchString(output)
	failed.unconverted = unconverted().MatchString(output)
	return &failed
}

// gitError is the error of a failed git command, with its output.
type gitError struct {
	command, output string
	code            int // its exit code; -1 if it did not exit by itself
	remote          bool
	// unstarted is true if bubblewrap could not start it.
	unstarted bool
	// incomplete is true if git could not read or store a file because of this machine: a disk is full or fails,
	// for example.
	incomplete bool
	// unconverted is true if git could not convert a file from its encoding.
	unconverted bool
}

var (
	// unread matches git's messages about what it could not read, such as a file that it leaves out, or a list of
	// files to ignore.
	unread = lazy.Regexp(`(?m)^(?:error: (?:open|readlink)\(.*\)|error: read error while indexing .*?|` +
		`warning: (?:could not open directory|unable to access) '.*')(?:: (.*))?$`)
	// unreadable matches the reasons that a job can cause. Any other one is the machine's.
	unreadable = lazy.Regexp(`^(Permission denied|Operation not permitted|No such (file or directory|device or address)|` +
		`Not a directory|Is a directory|Too many levels of symbolic links|File name too long)$`)
	// shortage matches git's messages, but none of a remote, that something could not be stored on this machine.
	shortage = lazy.Regexp(`failed to insert into database|(?m)^(?:error|fatal): .*(?:No space left on device|Disk quota exceeded|` +
		`Read-only file system|Too many open files.*|Cannot allocate memory|Input/output error)$`)
)

// missedIn returns what git has done without because of this machine, from its messages; "" if nothing.
func missedIn(output string) string {
	for _, message := range unread().FindAllStringSubmatch(output, -1) {
		if !unreadable().MatchString(message[1]) {
			return message[0]
		}
	}
	return ""
}

var unconverted = lazy.Regexp(`fatal: (failed to encode '|BOM is (required|prohibited) in '|encoding '.* is not the same)`)

func (e *gitError) Error() string { return "git " + e.command + ": " + e.output }

var userinfo = lazy.Regexp(`([a-z][a-z0-9+.-]*://)[^/@\s]+@`)

// redacted removes user names and passwords from the URLs of a text.
func redacted(text string) string { return userinfo().ReplaceAllString(text, "$1") }

// plainURL returns an address without user name and password.
func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Host == "" {
		return redacted(address)
	}
	u.User = nil
	return u.String()
}

// misleading lists paths in a bare repository that redirect git to another configuration, to other
// repositories' objects, or to programs. Ringback's repositories have none of them.
var misleading = []string{
	"commondir", "gitdir", "config.worktree", "worktrees", "modules", "hooks", "objects/info/alternates",
	"objects/info/http-alternates",
}

// resetConfig rewrites the configuration of one of Ringback's bare repositories before a git with
// credentials reads it, and removes the misleading paths. Without a sandbox, a job may have
// configured a program there for git to run.
func (root Root) resetConfig(ctx context.Context, dir string) error {
	for _, name := range misleading {
		if err := untrusted.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	format, err := root.objectFormat(ctx, dir)
	if err != nil {
		return err
	}
	text := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if format != "sha1" {
		text = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = " +
			format + "\n"
	}
	file, err := os.CreateTemp(dir, "config-")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil { // rename replaces a symlink instead of following it
		err = os.Rename(file.Name(), filepath.Join(dir, "config"))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// objectFormat returns sha1 or sha256. An unreadable configuration counts as sha1.
func (root Root) objectFormat(ctx context.Context, dir string) (string, error) {
	format, err := root.local(dir, process.Access{Readable: []string{dir}}).run(ctx, "rev-parse", "--show-object-format")
	if failed, ok := errors.AsType[*gitError](err); err != nil && (!ok || failed.code < 0) { // git has read nothing
		return "", err
	}
	if err == nil && format == "sha256" {
		return "sha256", nil
	}
	return "sha1", nil
}
