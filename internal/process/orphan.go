package process

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// owner is the part of a marker that says which server a program belongs to.
const owner = "of/"

// OwnMarker is the marker of a program that is to end with this server.
func OwnMarker(name string) string {
	pid := os.Getpid()
	return owner + strconv.Itoa(pid) + "/" + StartTime(pid) + "/" + name
}

// EndOrphans ends the programs whose server has died. It returns how many there
// were.
func EndOrphans() int {
	orphans := Marked(func(marker string) bool {
		rest, owned := strings.CutPrefix(marker, owner)
		parts := strings.SplitN(rest, "/", 3)
		if !owned || len(parts) < 3 {
			return false
		}
		pid, err := strconv.Atoi(parts[0])
		return err == nil && StartTime(pid) != parts[1]
	})
	for _, pid := range orphans {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(orphans)
}
