//go:build unix && !linux

package redisd

import "syscall"

// childAttr keeps the terminal's Ctrl-C from the embedded Redis, which is stopped last.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
