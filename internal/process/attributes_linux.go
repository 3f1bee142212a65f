package process

import "syscall"

// attributes put a program into a session of its own, and let it end with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// endsWithParent puts a program into a process group of its own, and lets it end with
// the thread that starts it.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
