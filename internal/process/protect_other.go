//go:build unix && !linux

package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Protect disables core dumps: only Linux can protect a process from its own user.
func Protect() error {
	if err := lower(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	return nil
}
