package redisd

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr keeps the terminal's Ctrl-C from the embedded Redis, which is stopped last, and
// terminates it if the server is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// listenerPID returns the process at the other end of a connection, as reported by the kernel.
func listenerPID(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	if controlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); controlErr != nil {
		return 0, controlErr
	}
	if err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}
