package process

import (
	"os"
	"path/filepath"
)

// kernel mounts the kernel's own file systems. /proc is the sandbox's own, with its own
// processes, but its other files belong to the machine, and their owner may write them
// without any capability. The owner is root, which matters if the server runs as root, so
// all of /proc is read-only. Of /sys, only the parts are mounted that show how many
// processors and how much memory a program may use.
func (m mounts) kernel() {
	m["/proc"] = []string{"--proc", "/proc", "--remount-ro", "/proc"}
	for _, place := range append(controlGroups(), "/sys/devices/system") {
		for dir := filepath.Dir(place); dir != "/"; dir = filepath.Dir(dir) { // bubblewrap would make them for its own user only
			m[dir] = []string{"--perms", "0755", "--dir", dir}
		}
		m.bind("--ro-bind-try", place, place)
	}
	for _, file := range aboutOthers {
		if info, err := os.Stat(file); err == nil && info.Mode()&0o004 != 0 {
			m.bind("--ro-bind", "/dev/null", file)
		}
	}
}

// controlGroups returns the directories with a program's limits. In version 1, each controller is a mount
// of its own, and takes time.
func controlGroups() []string {
	const all = "/sys/fs/cgroup"
	if _, err := os.Stat(all + "/cgroup.controllers"); err == nil {
		return []string{all}
	}
	return []string{all + "/cpu", all + "/memory"}
}

// aboutOthers are files of /proc that reveal processes outside the sandbox, unless only root may read
// them. Each costs a mount, so no others are covered.
var aboutOthers = []string{"/proc/keys", "/proc/timer_list"}
