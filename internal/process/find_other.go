//go:build unix && !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
)

// StartTime returns when a process started, according to ps; "" if there is no such
// process.
func StartTime(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	if err != nil || strings.HasPrefix(text, "Z") {
		return ""
	}
	_, started, _ := strings.Cut(text, " ")
	return strings.TrimSpace(started)
}

// AwaitExit returns when a process that is not our child has ended.
func AwaitExit(pid int, started string) { awaitExitByAsking(pid, started) }

// Marked finds nothing here: only Linux shows another process's environment. Process
// groups still end with their turn.
func Marked(func(string) bool) []int { return nil }

func endMarked(func(int, string) bool) int { return 0 }

// carries cannot check the marker, so pid and start time must suffice.
func carries(int, string) bool { return true }

func place() string { return "" }

func placeOf(int) string { return "" }
