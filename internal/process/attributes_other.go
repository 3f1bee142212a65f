//go:build unix && !linux

package process

import "syscall"

// attributes put a program into a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endsWithParent puts a program into a process group of its own.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
