package process

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// Protect closes this process to what it starts, whatever runs as the same user: its
// memory and its environment in /proc belong to root from here on, nothing of that
// user's can trace it, and it leaves no core dump. What it executes is readable again,
// so secrets must be in no child's environment; but it leaves no core dump either, and
// inherits no file that this process was started with. Processes that lose their parent
// become our children, see Sweeper.
func Protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing the memory of this process to others: %w", err)
	}
	if err := lower(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbidding core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("taking in processes without a parent: %w", err)
	}
	// Go keeps what it opens from its children, but not what this process was started with.
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("keeping open files from children: %w", err)
	}
	return nil
}
