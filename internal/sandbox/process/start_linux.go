package process

import (
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
