package process

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unnamedFile returns a file with a text that disappears when it is closed. It is in
// memory, which is faster than a disk.
func unnamedFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("ringback-stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	_, err = f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
