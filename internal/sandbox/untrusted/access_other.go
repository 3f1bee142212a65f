//go:build unix && !linux

package untrusted

import "golang.org/x/sys/unix"

// makeAccessible lets the owner of a directory read and change it. It follows no link.
func makeAccessible(d Dir, name string) error {
	return unix.Fchmodat(d.fd, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
