//go:build !linux

package process

import "os"

func userOfJobs() (uid int, setpriv string, err error) { return 0, "", nil }

// Denies returns "": jobs run as the server's user here.
func (s Sandbox) Denies(string, bool) string { return "" }

func (s Sandbox) usersOption() []string { return nil }

func (s Sandbox) fillUsers(int, *os.File) error { return nil }

func (s Sandbox) handOver(Access) error { return nil }

func (s Sandbox) handOverStreams(int) {}

func (s Sandbox) openWay(mounts) {}
