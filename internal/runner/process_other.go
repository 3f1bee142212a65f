//go:build unix && !linux

package runner

import (
	"os/exec"
	"strconv"
	"strings"
)

// startTime is when a process started, as ps tells; "" when there is none.
func startTime(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	if err != nil || strings.HasPrefix(text, "Z") {
		return ""
	}
	_, started, _ := strings.Cut(text, " ")
	return strings.TrimSpace(started)
}

// awaitExit returns when a process that is not our child has ended.
func awaitExit(pid int, started string) { awaitExitByAsking(pid, started) }

// strays finds nothing here: only Linux shows another process's environment.
// Process groups still end with their turn.
func strays(map[string]bool) []int { return nil }
