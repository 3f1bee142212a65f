package process

import (
	"os"
	"strconv"
	"strings"
)

// owner begins the marker of a program that belongs to a server: the server's pid, its
// start time, and the scope of the pid.
const owner = "of/"

// OwnMarker returns the marker of a program that is to end with this server.
func OwnMarker(name string) string {
	pid := os.Getpid()
	return owner + strconv.Itoa(pid) + "/" + StartTime(pid) + "/" + place() + "/" + name
}

// EndOrphans ends the programs of dead servers, and returns their number. It leaves
// programs of a server in another container alone, because that server's pid has no
// meaning here.
func EndOrphans() int { return len(endMarked(isOrphan)) }

func isOrphan(marker string) bool {
	here, runs := ServerOf(marker)
	return here && !runs
}

// ServerOf reports whether a marker is an OwnMarker of a server in this container, since the start of
// the system, and whether that server still runs. Of another one, nothing is known here.
func ServerOf(marker string) (here, runs bool) {
	rest, owned := strings.CutPrefix(marker, owner)
	parts := strings.SplitN(rest, "/", 4)
	if !owned || len(parts) < 4 || parts[2] == "" || parts[2] != place() {
		return false, false
	}
	server, err := strconv.Atoi(parts[0])
	return err == nil, err == nil && StartTime(server) == parts[1]
}
