package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"ringback/internal/limit"
)

// Sandbox runs programs by bubblewrap: with processes, /tmp, /run, /dev and a home of
// their own, a file system that they can only read, and nothing of the server's
// directories but what a Room opens. It also sees to their limits. The zero Sandbox confines
// and limits nothing.
type Sandbox struct {
	// bwrap is bubblewrap's program; empty where nothing is confined.
	bwrap string
	opts  SandboxOptions
}

// SandboxOptions say what a sandbox hides. All places are absolute paths.
type SandboxOptions struct {
	// Helper is a program that calls RunHelper first of all, see there: the server's own.
	Helper string
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
	// NoNetwork leaves it without any network, this machine's own included.
	NoNetwork bool
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
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	args := s.bubblewrap([]string{"true"}, "/", Room{}, limit.Limits{})
	cmd := exec.CommandContext(ctx, bwrap, args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		said := string(bytes.TrimSpace(out))
		if said == "" {
			said = err.Error()
		}
		return Sandbox{}, fmt.Errorf("bwrap does not work here (%s): it needs version 0.7 or later and user namespaces (docs/sandbox.md says how in containers)", said)
	}
	return s, nil
}

// Unconfined confines nothing, but sees to limits. helper is a program that calls
// RunHelper first of all.
func Unconfined(helper string) Sandbox { return Sandbox{opts: SandboxOptions{Helper: helper}} }

// Unconfined is for programs that run outside, within limits.
func (s Sandbox) Unconfined() Sandbox { return Unconfined(s.opts.Helper) }

// InForce reports whether programs are confined.
func (s Sandbox) InForce() bool { return s.bwrap != "" }

// wrap is the command line that runs a program in a room, within limits.
func (s Sandbox) wrap(program []string, dir string, room Room, l limit.Limits) ([]string, error) {
	if s.opts.Helper == "" {
		return program, nil
	}
	path, err := exec.LookPath(program[0]) // the same error whoever starts it
	if err != nil {
		return nil, err
	}
	if !s.InForce() {
		return s.limit(program, path, l), nil
	}
	return slices.Concat([]string{s.opts.Helper, keepSandbox, s.bwrap}, s.bubblewrap(program, dir, room, l)), nil
}

// outside are variables that name places which a sandbox does not have, or in which
// nothing can be written. Without them, programs take places in their home.
var outside = []string{"TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOTMPDIR"}

// bubblewrap are the arguments of bubblewrap.
func (s Sandbox) bubblewrap(program []string, dir string, room Room, l limit.Limits) []string {
	args := []string{
		"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	if room.NoNetwork {
		args = append(args, "--unshare-net")
	}
	for _, name := range outside {
		args = append(args, "--unsetenv", name)
	}
	mounts := s.mounts(room)
	mounts.program(program[0])
	args = append(args, mounts.args()...)
	return append(append(args, "--chdir", resolved(dir), "--"), s.limit(program, "", l)...)
}

// mounts are what a program finds where. What is said later counts for the same place.
func (s Sandbox) mounts(room Room) mounts {
	m := mounts{}
	m.root()
	m["/dev"], m["/proc"] = []string{"--dev", "/dev"}, []string{"--proc", "/proc"}
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
	for _, place := range room.Writable {
		m.bind("--bind", place, place)
	}
	if s.opts.Helper != "" && m.hides(resolved(s.opts.Helper)) { // it sees to the limits in there
		m.bind("--ro-bind", s.opts.Helper, s.opts.Helper)
	}
	for place, source := range room.Shown {
		m.bind("--ro-bind", source, place)
	}
	return m
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
