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
func allPIDs() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
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
