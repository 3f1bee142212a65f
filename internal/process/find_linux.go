package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// StartTime is when a process started, in clock ticks since boot; "" when there
// is none, or it is a zombie. It tells a process from a later one with its pid.
func StartTime(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything; fields count from behind it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" {
		return ""
	}
	return string(fields[19])
}

// AwaitExit returns when a process that is not our child has ended.
func AwaitExit(pid int, started string) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		awaitExitByAsking(pid, started)
		return
	}
	defer unix.Close(fd)
	if StartTime(pid) != started {
		return
	}
	for {
		_, err := unix.Poll([]unix.PollFd{{
			Fd:     int32(fd), //nolint:gosec // a descriptor is small
			Events: unix.POLLIN,
		}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Marked finds every process that carries a marker that is wanted.
func Marked(wanted func(marker string) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if m := markerOf(pid); m != "" && wanted(m) {
			found = append(found, pid)
		}
	}
	return found
}

// markerOf reads the marker from a process's environment; "" when it has none.
func markerOf(pid int) string {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		for _, name := range []string{MarkerVar, earlierMarkerVar} {
			if value, ok := bytes.CutPrefix(line, []byte(name+"=")); ok {
				return string(value)
			}
		}
	}
	return ""
}
