package main

import (
	"strconv"

	"golang.org/x/sys/unix"

	"ringback/internal/process"
)

// terminal names the session that the command was started from, which is one
// for each terminal window. Process ids come again, so the start of the one that
// leads the session belongs to the name.
func terminal() string {
	leader, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	return strconv.Itoa(leader) + " " + process.StartTime(leader)
}
