package process

import (
	"bytes"
	"os"
	"strconv"
)

// stat is the system's information about a process.
type stat struct {
	zombie          bool
	parent, session int
	// started is in clock ticks since boot.
	started string
}

// allPIDs returns the pids of all processes; none without /proc.
func allPIDs() []int { return idsIn("/proc") }

// idsIn returns the processes or threads that a directory in /proc lists. It opens none of their
// directories: listing those is by far the most expensive part of a search.
func idsIn(dir string) (ids []int) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// statOf reads the system's information about a process; false if there is no such
// process.
func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name in parentheses may contain anything, so count the fields after it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{zombie: string(fields[0]) == "Z", started: string(fields[19])}
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.session, _ = strconv.Atoi(string(fields[3]))
	return s, true
}
