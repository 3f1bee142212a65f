package process

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ringback/internal/limit"
)

// ulimit is the beginning of a shell script that sets limits for the shell and what it
// runs, both the soft and the hard ones, so that the program never runs without them. It is
// empty for none.
func (s Sandbox) ulimit(l limit.Limits) string {
	var script strings.Builder
	set := func(resource int, most, unit limit.Bytes, options ...string) {
		var now unix.Rlimit
		err := unix.Getrlimit(resource, &now)
		if most == 0 || err == nil && now.Max <= uint64(most) { //nolint:gosec // none is negative
			return // what limits the server limits the program, too
		}
		for i, option := range options {
			if err == nil && now.Cur <= uint64(most) { //nolint:gosec // none is negative
				option = "H" + option
			}
			options[i] = "ulimit -" + option + " " + strconv.FormatInt(int64((most+unit-1)/unit), 10)
		}
		script.WriteString(strings.Join(options, " 2>/dev/null || ") + " || exit 126\n")
	}
	l = s.inForce(l)
	set(unix.RLIMIT_FSIZE, l.FileSize, 512, "f")
	set(unix.RLIMIT_DATA, l.Memory, limit.KiB, "d")
	set(unix.RLIMIT_NPROC, limit.Bytes(l.Processes), 1, "u", "p") // as bash says it, and as dash does
	return script.String()
}

// inForce are those of the limits that the system is asked for. Processes are limited in
// a user namespace of their own only: elsewhere the system would count all of the server's
// user.
func (s Sandbox) inForce(l limit.Limits) limit.Limits {
	if !s.ownUsers {
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

// lower lowers a limit of this process, both the soft and the hard one.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: min(now.Max, most)})
}
