package process

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// StartTime returns when a process started, in clock ticks since boot; "" if there is
// no such process, or it is a zombie. It distinguishes a process from a later one with
// the same pid.
func StartTime(pid int) string {
	s, ok := statOf(pid)
	if !ok || s.zombie {
		return ""
	}
	return s.started
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

// Marked returns every process with a marker for which wanted returns true.
func Marked(wanted func(marker string) bool) (found []int) {
	eachMarked(func(pid int, marker string) {
		if wanted(marker) {
			found = append(found, pid)
		}
	})
	return found
}

// endMarked ends every process with a marker for which wanted returns true, and returns
// their pids. It ends exactly the process that it checked, even if the pid is reused.
func endMarked(wanted func(marker string) bool) (ended []int) {
	eachMarked(func(pid int, marker string) {
		if wanted(marker) && signal(pid, unix.SIGKILL, func() bool { return markerOf(pid) == marker }) {
			ended = append(ended, pid)
		}
	})
	return ended
}

// signal sends a signal to a process if it is still the intended one after a descriptor for it is
// open. It reports whether it did.
func signal(pid int, sig unix.Signal, isMeant func() bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // gone, or the system has no pidfds
		return isMeant() && unix.Kill(pid, sig) == nil
	}
	defer unix.Close(fd)
	return isMeant() && unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

func eachMarked(do func(pid int, marker string)) {
	var bare []int
	for _, pid := range allPIDs() {
		if pid == os.Getpid() {
			continue
		}
		if m := markerOf(pid); m != "" {
			do(pid, m)
		} else if isBare(pid) {
			bare = append(bare, pid)
		}
	}
	for range 3 { // during exec, a process briefly has no environment
		if len(bare) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
		bare = slices.DeleteFunc(bare, func(pid int) bool {
			m := markerOf(pid)
			if m != "" {
				do(pid, m)
			}
			return m != "" || !isBare(pid)
		})
	}
}

// isBare reports whether a process runs a program and has no environment.
func isBare(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil || len(environ) > 0 {
		return false
	}
	_, err = os.Readlink(dir + "/exe") // kernel threads have none
	return err == nil
}

// carries reports whether a process has this marker. During exec, a process briefly has
// no environment, so carries retries.
func carries(pid int, marker string) bool {
	for range 20 {
		if found := markerOf(pid); found != "" {
			return found == marker
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// pidScope identifies the scope of our pids: this boot of the system and this pid
// namespace, of which each container has its own.
var pidScope = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + "." + strings.Trim(strings.TrimPrefix(namespace, "pid:"), "[]")
})

// markerOf reads the marker from a process's environment; "" if it has none.
func markerOf(pid int) string {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(line, []byte(MarkerVar+"=")); ok {
			return string(value)
		}
	}
	return ""
}

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
