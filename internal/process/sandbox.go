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

	"ringback/internal/limit"
)

// Sandbox runs programs by bubblewrap: with a network, processes, /tmp, /run, /dev and a
// home of their own, a file system that they can only read, and nothing of the server's
// directories but what a Room opens. It also sets their limits. The zero Sandbox sets
// limits and confines nothing.
type Sandbox struct {
	// bwrap is the path of bubblewrap; empty if nothing is confined.
	bwrap string
	// ownUsers is true if programs run in a user namespace of their own.
	ownUsers bool
	// user is as whom programs run; 0 for the server's user. setpriv is the program that makes
	// them that.
	user    int
	setpriv string
	opts    SandboxOptions
	// hidden are the directories of opts.Hidden without links on the way.
	hidden []string
}

// SandboxOptions say what a sandbox hides. All places are absolute paths.
type SandboxOptions struct {
	// Home is the home directory of the server's user, of which only programs are left.
	Home string
	// Hidden are directories, and HiddenFiles files, that nobody gets to see.
	Hidden, HiddenFiles []string
	// Path is the value of PATH: what lies in its directories can be run, but for those
	// that hold a hidden one, such as the home itself.
	Path string
	// Readable are directories and files that everybody gets to see, wherever they lie.
	Readable []string
}

// Room is what a program in a sandbox may reach.
type Room struct {
	// Writable and Readable are directories or files that are there, though they lie
	// in a place that is hidden.
	Writable, Readable []string
	// Shown are files and directories to be read, by where they are seen.
	Shown map[string]string
	// Caches is a directory that keeps, from one program of a job to the next, what
	// package managers put into their caches; empty for none.
	Caches string
	// Masks are not to be reached, wherever they lie.
	Masks Masks
	// Network is what it reaches; the zero one is nothing.
	Network Network
	// Lent are directories or files of others that may be written. Unlike what is Writable,
	// they stay their owners', who decide whether the user of the jobs may write there.
	Lent []string
	// AsServer is for programs that read what only the server's user may read, and nothing
	// that a job has written: they run as that user.
	AsServer bool
}

// FindSandbox returns a sandbox. The error says why there is none here, and how to get
// one.
func FindSandbox(ctx context.Context, o SandboxOptions) (Sandbox, error) {
	if runtime.GOOS != "linux" {
		return Sandbox{}, errors.New("bubblewrap runs on Linux only: run the server on Linux, in a machine or a container")
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return Sandbox{}, errors.New("bwrap is not on PATH: install bubblewrap (apt-get install bubblewrap)")
	}
	s := Sandbox{bwrap: bwrap, opts: o}
	for _, dir := range o.Hidden {
		s.hidden = append(s.hidden, resolved(dir))
	}
	if s.user, s.setpriv, err = userOfJobs(); err != nil {
		return Sandbox{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// Users are counted by user namespace. If the program has one of its own, its
	// processes can be limited without counting the server's.
	cmd := exec.CommandContext(ctx, "readlink", userNamespace)
	cmd.Env, cmd.Dir = []string{"PATH=/usr/bin:/bin"}, "/"
	var printed, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &errs
	door := Door{Port: 1, Serve: func(net.Listener) {}} // so that it is known whether doors can be made
	if err := s.RunBriefly(cmd, Room{Network: Network{Doors: []Door{door}}}, limit.Limits{}); err != nil {
		reason := cmp.Or(string(bytes.TrimSpace(errs.Bytes())), err.Error())
		return Sandbox{}, fmt.Errorf("bwrap does not work here (%s): it needs version 0.7 or later and user namespaces (docs/sandbox.md says how in containers)", reason)
	}
	outer, err := os.Readlink(userNamespace)
	s.ownUsers = err == nil && outer != string(bytes.TrimSpace(printed.Bytes()))
	return s, nil
}

// userNamespace is a link that names the user namespace of the process that reads it.
const userNamespace = "/proc/self/ns/user"

// InForce reports whether programs are confined.
func (s Sandbox) InForce() bool { return s.bwrap != "" }

// OtherUser reports whether programs run as another user than the server.
func (s Sandbox) OtherUser() bool { return s.user != 0 }

// confine makes cmd run in a room, within limits. It returns an error if there is no such
// program.
func (s Sandbox) confine(cmd *exec.Cmd, room Room, l limit.Limits, options ...string) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if s.InForce() {
		cmd.Args = slices.Concat([]string{s.bwrap, "--info-fd", fdOf(infoPlace)}, filterOption(), options, s.bubblewrap(cmd.Args, cmd.Dir, room, l))
		cmd.Path = s.bwrap
		if err := s.handOver(room); err != nil {
			return fmt.Errorf("giving the files of a job to its user: %w", err)
		}
		return nil
	}
	if limits := s.ulimit(l); limits != "" {
		if _, err := exec.LookPath(cmd.Path); err != nil { // the shell's error would say less
			return err
		}
		cmd.Args = slices.Concat([]string{shell, "-c", limits + `exec "$@"`, shell, cmd.Path}, cmd.Args[1:])
		cmd.Path = shell
	}
	return nil
}

// shell is there on every system that the server runs on, and starts faster than anything
// else.
const shell = "/bin/sh"

// leadSandbox is the script of the first process in a sandbox: it runs the program given
// as its arguments, and ends with the program's exit code. Its end ends everything else in
// the sandbox, by the system itself, whether or not the server is still there. What a shell
// prints about a program that a signal has ended is not the program's output.
const leadSandbox = `command -v "$1" >/dev/null || { echo "$1: not found" >&2; exit 127; }
exec 3>&2 2>/dev/null
(exec "$@") 2>&3 3>&-
exit $?`

// RunBriefly runs a command to its end in a room. It is for many short programs one after
// another, such as git: the command ends with this server, and as soon as its context does.
// If nothing is confined, there is no room, and there are no limits.
func (s Sandbox) RunBriefly(cmd *exec.Cmd, room Room, l limit.Limits) error {
	if !s.InForce() {
		return cmd.Run()
	}
	if err := s.confine(cmd, room, l, endWithUs); err != nil {
		return err
	}
	cmd.SysProcAttr = endsWithParent()
	runtime.LockOSThread() // what ends with its parent ends with the thread that started it
	defer runtime.UnlockOSThread()
	_, listeners, err := s.launch(cmd, room.Network.Doors, cmd.Start, func() { _ = cmd.Wait() })
	if err != nil {
		return err
	}
	defer closeAll(listeners)
	return cmd.Wait()
}

// endWithUs is bubblewrap's option that ends the sandbox with the server.
const endWithUs = "--die-with-parent"

// outside are variables that name places which a sandbox does not have, or in which
// nothing can be written. Without them, programs take places in their home.
var outside = []string{"TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOTMPDIR"}

// bubblewrap are the arguments of bubblewrap.
func (s Sandbox) bubblewrap(program []string, dir string, room Room, l limit.Limits) []string {
	args := append(s.usersOption(), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--as-pid-1", "--new-session", "--cap-drop", "ALL")
	switch {
	case s.user == 0:
	case room.AsServer: // what a job's user has written there, too
		args = append(args, "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER")
	default: // to become that user where it works, and no longer
		args = append(args, "--cap-add", "CAP_DAC_READ_SEARCH", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	}
	for _, name := range outside {
		args = append(args, "--unsetenv", name)
	}
	for _, entry := range room.Network.Env {
		name, value, _ := strings.Cut(entry, "=")
		args = append(args, "--setenv", name, value)
	}
	mounts := s.mounts(room)
	name := mounts.program(program[0])
	args = append(args, mounts.args()...)
	lead := s.ulimit(l) + leadSandbox
	if len(room.Network.Doors) > 0 {
		lead = passGate + lead
	}
	if s.user != 0 {
		lead = "exec " + fdOf(usersPlace) + "<&-\n" + lead // bubblewrap leaves it open
	}
	args = append(args, "--chdir", resolved(dir), "--")
	if s.user != 0 && !room.AsServer {
		id := strconv.Itoa(s.user)
		args = append(args, s.setpriv, "--reuid="+id, "--regid="+id, "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--")
	}
	args = append(args, shell, "-c", lead, shell, name)
	return append(args, program[1:]...)
}

// mounts are what a program finds where. What is said later counts for the same place.
func (s Sandbox) mounts(room Room) mounts {
	m := mounts{}
	m.root()
	m["/dev"] = []string{"--dev", "/dev"}
	m.kernel()
	if s.user != 0 {
		m.empty("/dev/shm") // else it is for whom bubblewrap runs as alone
		m.accounts()
	}
	for _, place := range []string{"/tmp", "/var/tmp", "/run"} {
		m.empty(place)
	}
	m.home(s.opts.Home, room.Caches)
	for _, place := range slices.Concat(resolvers, s.opts.Readable) {
		m.bind("--ro-bind-try", place, place)
	}
	for _, dir := range filepath.SplitList(s.opts.Path) {
		if filepath.IsAbs(dir) && !m.holdsHidden(resolved(dir)) && m.hides(resolved(dir)) {
			m.bind("--ro-bind-try", dir, dir)
		}
	}
	for _, place := range s.opts.Hidden {
		m.empty(place)
	}
	for _, place := range room.Readable {
		m.bind("--ro-bind", place, place)
	}
	for _, place := range s.opts.HiddenFiles {
		if _, err := os.Stat(place); err == nil {
			m.bind("--ro-bind", "/dev/null", place)
		}
	}
	for _, place := range slices.Concat(room.Writable, room.Lent) {
		m.bind("--bind", place, place)
	}
	for place, source := range room.Shown {
		m.bind("--ro-bind", source, place)
	}
	m.mask(room.Masks)
	s.openWay(m)
	return m
}

// isHidden reports whether a place lies within what the sandbox hides of the server's.
func (s Sandbox) isHidden(place string) bool {
	place = resolved(place)
	return slices.ContainsFunc(s.hidden, func(dir string) bool {
		return strings.HasPrefix(place+"/", strings.TrimSuffix(dir, "/")+"/")
	})
}

// resolvers are where names of hosts are looked up, within the hidden /run.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}

// resolved is a place without links on the way: bubblewrap would look for their ends in
// another file system than ours.
func resolved(place string) string {
	if to, err := filepath.EvalSymlinks(place); err == nil {
		return to
	}
	return filepath.Clean(place)
}
