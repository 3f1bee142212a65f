package process

import (
	"os"
	"slices"
)

// inherited is the marker of the program that this process itself belongs to, where it was
// started by another server's job: what carries it runs beside us, not for us. It is read
// before Protect closes our environment.
var inherited = markerOf(os.Getpid())

// generation is a process in a line of parents.
type generation struct {
	pid     int
	started string
	// session is the one it is in, which it can leave for a new one only.
	session int
}

// belongsToJob reports whether a process was started for a job, here or by another server
// on this machine, or descends from one that was: whether we are among its ancestors, or
// it or one of them carries a marker. What we have started within our own session, as the
// embedded Redis, is ours. One whose ancestors cannot be made out counts as a job's.
func belongsToJob(pid int) (marker string, ofJob bool) {
	if pid == os.Getpid() {
		return "", false
	}
	for range looks {
		line := lineOf(pid)
		marker, ofJob = judge(line)
		// Who loses its parent gets another one. A line that stayed is a true one.
		if slices.Equal(line, lineOf(pid)) {
			return marker, ofJob
		}
	}
	return marker, true
}

// judge says whether a line of parents leads to a job.
func judge(line []generation) (marker string, ofJob bool) {
	ours := lineOf(os.Getpid())[1:]
	for i, one := range line {
		switch {
		case slices.Contains(ours, one): // from here on upwards it is our own line
			return "", false
		case one.pid == os.Getpid():
			return "", i > 0 && line[i-1].session != one.session
		}
		if marker = markerOf(one.pid); marker != "" && marker != inherited {
			return marker, true
		}
	}
	return "", false
}

// maxGenerations bounds a line that changes while it is followed.
const maxGenerations = 1 << 16

// lineOf is a process with its ancestors, from itself to the first that can be seen.
func lineOf(pid int) (line []generation) {
	for pid > 0 && len(line) < maxGenerations {
		now, _ := statOf(pid)
		line = append(line, generation{pid, now.started, now.session})
		pid = now.parent
	}
	return line
}
