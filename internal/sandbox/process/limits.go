package process

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ringback/internal/job/limit"
)

// ulimit returns the beginning of a shell script that sets the soft and hard limits of the
// shell and the program it runs, so that the program never runs without them. It is empty
// if there are none.
func (s Sandbox) ulimit(l limit.Limits) string {
	var script strings.Builder
	set := func(resource int, most, unit limit.Bytes, options ...string) {
		var now unix.Rlimit
		err := unix.Getrlimit(resource, &now)
		wanted := uint64(most) //nolint:gosec // none is negative
		if most == 0 || err == nil && now.Max <= wanted {
			return // the server's own limit applies to the program, too
		}
		for i, option := range options {
			if err == nil && now.Cur <= wanted {
				option = "H" + option
			}
			options[i] = "ulimit -" + option + " " + strconv.FormatInt(int64((most+unit-1)/unit), 10)
		}
		script.WriteString(strings.Join(options, " 2>/dev/null || ") + " || exit 126\n")
	}
	l = s.inForce(l)
	set(unix.RLIMIT_FSIZE, l.FileSize, 512, "f")
	set(unix.RLIMIT_DATA, l.Memory, limit.KiB, "d")
	set(unix.RLIMIT_NPROC, limit.Bytes(l.Processes), 1, "u", "p") // for bash and for dash
	return script.String()
}

// inForce returns the limits that the system is asked to enforce. Processes are limited
// only in their own user namespace: elsewhere the system would count all processes of the
// server's user.
func (s Sandbox) inForce(l limit.Limits) limit.Limits {
	if !s.ownUsers {
		l.Processes = 0
	}
	return l
}

// Reached describes the limit that a failed program has reached, or returns "" for
// none. code and signal describe its end, see Exit; printed is its standard error.
func (s Sandbox) Reached(l limit.Limits, code int, signal, printed string) string {
	return s.inForce(l).Reached(code == fileTooLarge || signal == syscall.SIGXFSZ.String(), printed)
}

// fileTooLarge is the exit code with which shells, and a sandbox, report the signal.
const fileTooLarge = 128 + int(syscall.SIGXFSZ)

func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: min(now.Max, most)})
}
