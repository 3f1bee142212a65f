package process

import "time"

// awaitExitByAsking is for systems that cannot wait for another's child.
func awaitExitByAsking(pid int, started string) {
	for StartTime(pid) == started {
		time.Sleep(200 * time.Millisecond)
	}
}
