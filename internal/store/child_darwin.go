package store

import (
	"net"

	"golang.org/x/sys/unix"
)

// listenerPID is the process at the other end of a connection, as the system says.
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
