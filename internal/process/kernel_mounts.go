package process

import "golang.org/x/sys/unix"

// kernel shows what the kernel tells of itself. /proc is the sandbox's own, with its own
// processes, but what lies beside them is the machine's, and its owner may write it without
// any capability: that is root, if the server runs as root. So all of it is read-only. Of
// /sys, only those parts are there that tell how many processors and how much memory a
// program may use.
func (m mounts) kernel() {
	m["/proc"] = []string{"--proc", "/proc", "--remount-ro", "/proc"}
	delete(m, "/sys")
	for _, place := range []string{"/sys/devices/system", "/sys/fs/cgroup"} {
		m.bind("--ro-bind-try", place, place)
	}
	for _, file := range aboutOthers {
		if unix.Access(file, unix.R_OK) == nil {
			m.bind("--ro-bind", "/dev/null", file)
		}
	}
}

// aboutOthers are files of /proc that tell of processes outside of the sandbox. Each costs a
// mount, so no others are covered.
var aboutOthers = []string{"/proc/keys", "/proc/timer_list"}
