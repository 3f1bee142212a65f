package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime returns a clock that cannot be set and that keeps running while the machine sleeps.
func Uptime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("store: " + err.Error()) // every Linux that Go supports has it
	}
	return time.Duration(now.Nano())
}
