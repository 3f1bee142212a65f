package process

import "golang.org/x/sys/unix"

// kernel mounts the kernel's own file systems. /proc is the sandbox's own, with its own
// processes, but its other files belong to the machine, and their owner may write them
// without any capability. The owner is root, which matters if the server runs as root, so
// all of /proc is read-only. Of /sys, only the parts are mounted that show how many
// processors and how much memory a program may use.
func (m mounts) kernel() {
	m["/proc"] = []string{"--proc", "/proc", "--remount-ro", "/proc"}
	for _, dir := range []string{"/sys", "/sys/devices", "/sys/fs"} { // bubblewrap would make them for its own user only
		m[dir] = []string{"--perms", "0755", "--dir", dir}
	}
	for _, place := range []string{"/sys/devices/system", "/sys/fs/cgroup"} {
		m.bind("--ro-bind-try", place, place)
	}
	for _, file := range aboutOthers {
		if unix.Access(file, unix.R_OK) == nil {
			m.bind("--ro-bind", "/dev/null", file)
		}
	}
}

// aboutOthers are files of /proc that reveal processes outside the sandbox. Each costs a
// mount, so no others are covered.
var aboutOthers = []string{"/proc/keys", "/proc/timer_list"}
