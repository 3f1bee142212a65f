package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job/limit"
)

// Sandbox runs programs in bubblewrap: with their own network, processes, /tmp, /run,
// /dev and home, a read-only file system, and nothing of the server's directories except
// what an Access grants. It also sets their limits. The zero Sandbox sets limits and
// confines nothing.
type Sandbox struct {
	// bwrap is the path of bubblewrap; empty if nothing is confined.
	bwrap string
	// ownUsers is true if programs run in their own user namespace.
	ownUsers bool
	// user is the ID of the user that programs run as; 0 for the server's user. setpriv is the
	// path of the program that switches to that user.
	user    int
	setpriv string
	opts    SandboxOptions
	// hidden are the directories of opts.Hidden with links resolved.
	hidden []string
	// machine caches what all sandboxes show of the machine.
	machine *machineMounts
}

// SandboxOptions determine what a sandbox hides. All paths are absolute.
type SandboxOptions struct {
	// Home is the home directory of the server's user; only its programs are shown.
	Home string
	// Hidden are directories that no program may see.
	Hidden []string
	// Secrets are files that no program may see. Others may replace them while a program runs, so
	// the sandbox shows none of the files in their directories, only the directories there.
	// Of directories with links that lead to them, it shows nothing.
	Secrets []string
	// Awaited is one that does not exist yet, but may later; empty for none.
	Awaited string
	// Path is the value of PATH: programs in its directories can be run, except in
	// directories that contain a hidden one, such as the home itself.
	Path string
	// Readable are directories and files that every program may see, wherever they are.
	Readable []string
}

// Access contains everything that a program in a sandbox can access.
type Access struct {
	// Writable and Readable are directories or files that are shown even below a hidden
	// directory.
	Writable, Readable []string
	// Shown maps paths in the sandbox to read-only files and directories.
	Shown map[string]string
	// Temporary are directories in memory that are empty at first and disappear with the sandbox.
	Temporary []string
	// Kept maps directories in the sandbox to those of the server that keep what is written there.
	Kept map[string]string
	// Texts are files that exist in the sandbox only.
	Texts []Text
	// Caches is a directory that keeps the caches of package managers between the programs
	// of a job; empty for none.
	Caches string
	// Masks are not accessible, wherever they are.
	Masks Masks
	// Network is its network access; the zero Network reaches nothing.
	Network Network
	// Lent are other users' directories or files that may be written. Unlike Writable ones,
	// they keep their owner, which decides whether the user of the jobs may write there.
	Lent []string
	// AsServer runs a program as the server's user. It is for programs that read what only
	// that user may read, and nothing that a job has written.
	AsServer bool
}

// Text is a file in memory that disappears with the sandbox.
type Text struct {
	// Path is its path in the sandbox.
	Path string
	// Content is what it contains at first. A program can change it only if Writable is set.
	Content  string
	Writable bool
}

// FindSandbox returns a sandbox. If there is none, the error describes why, and how to
// get one.
func FindSandbox(ctx context.Context, o SandboxOptions) (Sandbox, error) {
	if runtime.GOOS != "linux" {
		return Sandbox{}, errors.New("bubblewrap runs on Linux only: run the server on Linux, in a machine or a container")
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return Sandbox{}, errors.New("bwrap is not on PATH: install bubblewrap (apt-get install bubblewrap)")
	}
	s := Sandbox{bwrap: bwrap, opts: o, machine: &machineMounts{known: map[bool]mounts{}}}
	for _, dir := range o.Hidden {
		s.hidden = append(s.hidden, resolved(dir))
	}
	if s.user, s.setpriv, err = userOfJobs(); err != nil {
		return Sandbox{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// Users are counted by user namespace. In its own namespace, the program's processes
	// can be limited without counting the server's.
	cmd := exec.CommandContext(ctx, "readlink", userNamespace)
	cmd.Env, cmd.Dir = []string{"PATH=/usr/bin:/bin"}, "/"
	var printed, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &errs
	door := Door{Port: 1, Serve: func(net.Listener) {}} // tests whether doors can be opened
	err = s.RunBriefly(ctx, cmd, Access{Network: Network{Doors: []Door{door}}}, limit.Limits{})
	if errors.Is(err, ErrExposed) {
		return Sandbox{}, err
	}
	if err != nil {
		reason := cmp.Or(string(bytes.TrimSpace(errs.Bytes())), err.Error())
		return Sandbox{}, fmt.Errorf(
			"bwrap does not work here (%s): it needs version 0.7 or later and user namespaces (see docs/sandbox.md for containers)",
			reason,
		)
	}
	outer, err := os.Readlink(userNamespace)
	s.ownUsers = err == nil && outer != string(bytes.TrimSpace(printed.Bytes()))
	return s, nil
}

// userNamespace is a link that identifies the user namespace of the reading process.
const userNamespace = "/proc/self/ns/user"

// InForce reports whether programs are confined.
func (s Sandbox) InForce() bool { return s.bwrap != "" }

// OtherUser reports whether programs run as another user than the server.
func (s Sandbox) OtherUser() bool { return s.user != 0 }

// confine makes cmd run in a sandbox, within limits. It returns an error if the program does
// not exist, or if ctx ends.
func (s Sandbox) confine(ctx context.Context, cmd *exec.Cmd, access Access, l limit.Limits, options ...string) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if s.InForce() {
		confined, err := s.bubblewrap(cmd.Args, cmd.Dir, access, l)
		if err != nil {
			return err
		}
		cmd.Args = slices.Concat([]string{s.bwrap, "--info-fd", fdOf(infoFile)}, filterOption(), options, confined)
		cmd.Path = s.bwrap
		if err := s.handOver(ctx, access); err != nil {
			return fmt.Errorf("giving the files of a job to its user: %w", err)
		}
		return nil
	}
	if limits := s.ulimit(l); limits != "" {
		if _, err := exec.LookPath(cmd.Path); err != nil { // the shell's error would be less specific
			return err
		}
		cmd.Args = slices.Concat([]string{shell, "-c", limits + `exec "$@"`, shell, cmd.Path}, cmd.Args[1:])
		cmd.Path = shell
	}
	return nil
}

// shell exists on every system that the server runs on, and starts faster than any other
// program.
const shell = "/bin/sh"

// leadSandbox is the script of the first process in a sandbox: it runs the program given as
// its arguments, and ends with the program's exit code. Then the system itself ends
// everything else in the sandbox, even if the server is gone. The script discards the
// shell's message about a program that a signal has ended, because that is not the
// program's output.
const leadSandbox = `command -v "$1" >/dev/null || { echo "$1: not found" >&2; exit 127; }
exec 3>&2 2>/dev/null
(exec "$@") 2>&3 3>&-
exit $?`

// RunBriefly runs a command to its end in a sandbox. It is for many short programs in a row,
// such as git: the command ends with this server, and immediately with its context. If
// nothing is confined, access and limits are ignored.
func (s Sandbox) RunBriefly(ctx context.Context, cmd *exec.Cmd, access Access, l limit.Limits) error {
	if !s.InForce() {
		return cmd.Run()
	}
	if err := s.confine(ctx, cmd, access, l, endWithUs); err != nil {
		return err
	}
	cmd.SysProcAttr = endsWithParent()
	runtime.LockOSThread() // the command ends with the thread that started it
	defer runtime.UnlockOSThread()
	_, listeners, err := s.start(cmd, "", access)
	if err != nil {
		return err
	}
	serve(access.Network.Doors, listeners)
	defer closeAll(listeners)
	return running.wait(cmd)
}

// endWithUs is bubblewrap's option that ends the sandbox with the server.
const endWithUs = "--die-with-parent"

// outside are variables with paths that do not exist in a sandbox, or are not writable
// there. Without them, programs use paths in their home.
var outside = []string{
	"TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "GOPATH", "GOCACHE", "GOMODCACHE",
	"GOTMPDIR",
}

// bubblewrap returns the arguments of bubblewrap.
func (s Sandbox) bubblewrap(program []string, dir string, access Access, l limit.Limits) ([]string, error) {
	mounts, err := s.mounts(access)
	if err != nil {
		return nil, err
	}
	args := append(
		s.usersOption(), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--as-pid-1", "--new-session",
		"--cap-drop", "ALL",
	)
	switch {
	case s.user == 0:
	case access.AsServer: // it also reads what a job's user has written
		args = append(args, "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER")
	default: // needed to switch to that user, and dropped then
		args = append(
			args, "--cap-add", "CAP_DAC_READ_SEARCH", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
			"CAP_SETPCAP",
		)
	}
	for _, name := range outside {
		args = append(args, "--unsetenv", name)
	}
	for _, entry := range access.Network.Env {
		name, value, _ := strings.Cut(entry, "=")
		args = append(args, "--setenv", name, value)
	}
	name := mounts.program(program[0])
	// bubblewrap copies the file before it mounts anything, and then mounts /tmp over it.
	args = append(args, "--file", fdOf(entranceFile), "/tmp/entrance")
	args = append(args, mounts.args()...)
	lead := s.ulimit(l) + leadSandbox
	if s.user != 0 {
		lead = "exec " + fdOf(usersFile) + "<&-\n" + lead // bubblewrap leaves it open
	}
	args = append(args, "--chdir", resolved(dir), "--")
	if s.user != 0 && !access.AsServer {
		id := strconv.Itoa(s.user)
		args = append(
			args, s.setpriv, "--reuid="+id, "--regid="+id, "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all",
			"--bounding-set=-all", "--",
		)
	}
	args = append(args, shell, "-c", lead, shell, name)
	return append(args, program[1:]...), nil
}

// mounts returns the mounts of a sandbox. For the same path, later entries replace earlier
// ones. The error is ErrExposed.
func (s Sandbox) mounts(access Access) (mounts, error) {
	hasCaches := prepareCaches(access.Caches)
	m := s.machine.mounts(s, hasCaches)
	if hasCaches {
		m.keep(cachesDir, access.Caches)
	}
	for _, path := range s.opts.Hidden {
		m.empty(path)
	}
	for _, path := range access.Readable {
		m.bind("--ro-bind", path, path)
	}
	for _, path := range slices.Concat(access.Writable, access.Lent) {
		m.bind("--bind", path, path)
	}
	for _, path := range access.Temporary {
		m.temporary(path, "0777")
	}
	for path, dir := range access.Kept {
		m.keep(path, dir)
	}
	for path, source := range access.Shown {
		m.bind("--ro-bind", source, path)
	}
	m.texts(access.Texts)
	secrets, err := s.withholdSecrets(m, access)
	if err != nil {
		return nil, err
	}
	m.mask(access.Masks)
	s.openWay(m)
	m.detach()
	s.withholdVersions(m, secrets)
	return m, nil
}

// isHidden reports whether a path is below a directory that the sandbox hides.
func (s Sandbox) isHidden(path string) bool {
	path = resolved(path)
	return slices.ContainsFunc(s.hidden, func(dir string) bool { return Within(dir, path) })
}

// resolved returns a path with links resolved: bubblewrap would resolve them in a
// different file system.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return filepath.Clean(path)
}
