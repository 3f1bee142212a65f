package process

import (
	"os"
	"strconv"
	"strings"
)

// owner is the part of a marker that says which server a program belongs to: its pid,
// when it started, and where that pid means something.
const owner = "of/"

// placePrefix begins a place within a marker; those of earlier servers have none.
const placePrefix = "at:"

// OwnMarker is the marker of a program that is to end with this server.
func OwnMarker(name string) string {
	pid := os.Getpid()
	return owner + strconv.Itoa(pid) + "/" + StartTime(pid) + "/" + placePrefix + place() + "/" + name
}

// EndOrphans ends the programs whose server has died. It returns how many there
// were. Those of a server in another container are left alone: a pid there says nothing
// here.
func EndOrphans() int { return endMarked(isOrphan) }

func isOrphan(pid int, marker string) bool {
	rest, owned := strings.CutPrefix(marker, owner)
	parts := strings.SplitN(rest, "/", 4)
	if !owned || len(parts) < 3 {
		return false
	}
	where, known := strings.CutPrefix(parts[2], placePrefix)
	if known && where != place() || !known && placeOf(pid) != place() {
		return false
	}
	server, err := strconv.Atoi(parts[0])
	return err == nil && StartTime(server) != parts[1]
}
