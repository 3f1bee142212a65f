package cli

import "golang.org/x/sys/unix"

// discardTyped discards what was typed at a terminal and not yet read, an unfinished line included.
func discardTyped(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
