//go:build unix && !linux

package process

import "syscall"

// attributes start a program in a new session.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endsWithParent starts a program in a new process group.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
