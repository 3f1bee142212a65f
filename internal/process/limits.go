package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"ringback/internal/limit"
)

// runLimited is the first argument of a helper that limits itself and then becomes a
// program: so no moment of the program is without its limits.
const runLimited = "run-limited"

// limited is what such a helper is told, as its second argument.
type limited struct {
	Memory, Processes, FileSize uint64
	// Path is where the program lies; empty to look for it on PATH.
	Path string
	// Outside is the user namespace of the server. Processes are limited in another one
	// only: the system counts those of a user in a namespace, and the server's own, and
	// all else of its user, are in this one.
	Outside string
}

// limit is the command line that runs a program within limits.
func (s Sandbox) limit(program []string, path string, l limit.Limits) []string {
	if l == (limit.Limits{}) {
		return program
	}
	text, err := json.Marshal(limited{uint64(l.Memory), uint64(l.Processes), uint64(l.FileSize), path, userNamespace()}) //nolint:gosec // none is negative
	if err != nil {                                                                                                      // numbers and texts
		panic("process: " + err.Error())
	}
	return append([]string{s.opts.Helper, runLimited, string(text)}, program...)
}

// inForce are those of the limits that the system is asked for.
func (s Sandbox) inForce(l limit.Limits) limit.Limits {
	switch {
	case s.opts.Helper == "":
		return limit.Limits{}
	case !s.InForce():
		l.Processes = 0
	}
	return l
}

// Reached says in words which limit a program that failed has reached: code and signal
// are how it ended, see Exit, and printed what it printed to standard error. It is ""
// for none.
func (s Sandbox) Reached(l limit.Limits, code int, signal, printed string) string {
	return s.inForce(l).Reached(code == fileTooLarge || signal == syscall.SIGXFSZ.String(), printed)
}

// fileTooLarge is the exit code by which shells, and a sandbox, report the signal.
const fileTooLarge = 128 + int(syscall.SIGXFSZ)

// become limits this process and makes it the program. It returns only if that fails,
// with an exit code.
func become(told string, program []string) int {
	var l limited
	if err := json.Unmarshal([]byte(told), &l); err != nil {
		return complain(err)
	}
	if l.Path == "" {
		found, err := exec.LookPath(program[0])
		if err != nil {
			return complain(err)
		}
		l.Path = found
	}
	inner := userNamespace()
	if l.Outside == "" || inner == "" || inner == l.Outside {
		l.Processes = 0
	}
	// From here on this process is not to need memory or threads: it may have none left.
	env := os.Environ()
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	if err := l.apply(); err != nil {
		return complain(err)
	}
	return complain(fmt.Errorf("%s: %w", l.Path, syscall.Exec(l.Path, program, env)))
}

// apply sets the limits for this process and its children, none above what is set already.
func (l limited) apply() error {
	var errs []error
	for resource, most := range map[int]uint64{unix.RLIMIT_FSIZE: l.FileSize, unix.RLIMIT_DATA: l.Memory, unix.RLIMIT_NPROC: l.Processes} {
		if most > 0 {
			errs = append(errs, lower(resource, most))
		}
	}
	return errors.Join(errs...)
}

// lower lowers a limit, both the one in force and the one up to which the program may
// raise it.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: min(now.Max, most)})
}

// userNamespace names the namespace that users are counted in; "" where there are none.
func userNamespace() string {
	name, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		return ""
	}
	return name
}
