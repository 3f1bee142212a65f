package process

import "syscall"

// attributes put a program into a session of its own, and let it end with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
