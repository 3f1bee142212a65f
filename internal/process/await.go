package process

import "time"

// awaitExitByAsking polls, for systems that cannot wait for another process's child.
func awaitExitByAsking(pid int, started string) {
	for StartTime(pid) == started {
		time.Sleep(200 * time.Millisecond)
	}
}
