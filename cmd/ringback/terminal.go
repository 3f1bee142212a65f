package main

import (
	"strconv"

	"golang.org/x/sys/unix"

	"ringback/internal/process"
)

// terminal identifies the session that the command was started from; each terminal window
// has its own. Process ids are reused, so the start time of the session's leader is
// included.
func terminal() string {
	leader, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	return strconv.Itoa(leader) + " " + process.StartTime(leader)
}
