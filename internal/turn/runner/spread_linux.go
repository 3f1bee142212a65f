package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDir is FS_TOPDIR_FL of the kernel: the attribute T of chattr.
const topDir = 0x20000

// spread marks a directory whose subdirectories are unrelated, so that ext4 puts them into different
// groups of inodes. In a single group, creating a file is slow at fifty jobs a second: ext4 does not
// reuse an inode within five seconds of its removal, and skips all of these before it finds a free one.
// Other file systems ignore the mark.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|topDir)
	}
}
