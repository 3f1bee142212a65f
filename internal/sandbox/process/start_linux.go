package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes start a program in a new session, and make it die with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// endsWithParent starts a program in a new process group, and makes it die with the
// thread that starts it.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// unnamedFile returns a file with a text that disappears when it is closed. It is in
// memory, which is faster than a disk.
func unnamedFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("ringback-stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return rewound(os.NewFile(uintptr(fd), "stdin"), text)
}

// Protect protects this process from the programs that it starts, even as the same
// user: its memory and its environment in /proc now belong to root, no process of that
// user can trace it, and it leaves no core dump. A program that it executes is readable
// again, so no child's environment may contain secrets. But that program leaves no core
// dump either, and inherits no file that this process was started with. Processes that
// lose their parent become our children, see Sweeper.
func Protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing the memory of this process to others: %w", err)
	}
	if err := lower(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("taking in processes without a parent: %w", err)
	}
	// Go does not pass on the files that it opens, but this process may have been started
	// with others.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) &&
		!errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("keeping open files from children: %w", err)
	}
	return nil
}
