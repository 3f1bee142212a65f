package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime is a clock that nobody sets, and that goes on while the machine sleeps.
func Uptime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("store: " + err.Error()) // every Linux that Go runs on has it
	}
	return time.Duration(now.Nano())
}
