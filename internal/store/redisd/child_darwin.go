package redisd

import (
	"net"

	"golang.org/x/sys/unix"
)

// listenerPID returns the process at the other end of a connection, as reported by the kernel.
func listenerPID(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	if controlErr := raw.Control(func(fd uintptr) {
		pid, err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID) //nolint:gosec // a descriptor is small
	}); controlErr != nil {
		return 0, controlErr
	}
	return pid, err
}
