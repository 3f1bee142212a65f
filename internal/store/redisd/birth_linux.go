package redisd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// birthOf returns when a file was created; empty if its file system does not record that. No tool copies
// it, and a file keeps it if its disk moves to another machine.
func birthOf(path string) string {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 || s.Btime.Sec == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%09d", s.Btime.Sec, s.Btime.Nsec)
}
