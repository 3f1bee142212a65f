package store

import "syscall"

// childAttr keeps the terminal's Ctrl-C from the embedded Redis, which is
// stopped last, and ends it when the server is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
