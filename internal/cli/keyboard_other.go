//go:build !linux

package cli

import "golang.org/x/sys/unix"

// discardTyped discards what was typed at a terminal and not yet read, an unfinished line included.
func discardTyped(fd int) {
	const input = 1 // FREAD
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, input)
}
