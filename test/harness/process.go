package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/must"
)

// ProcessesUnder returns the processes with a working directory under dir.
func ProcessesUnder(dir string) []int {
	entries, _ := filepath.Glob("/proc/[0-9]*/cwd")
	var pids []int
	for _, entry := range entries {
		cwd, err := os.Readlink(entry)
		var pid int
		if _, scanErr := fmt.Sscanf(entry, "/proc/%d/cwd", &pid); err == nil && scanErr == nil && strings.HasPrefix(cwd, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// EndProcessesUnder kills the processes with a working directory under dir, and waits until
// they have ended, so that dir can be removed.
func EndProcessesUnder(dir string) {
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		left := ProcessesUnder(dir)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// ChildrenOf returns the children of a process.
func ChildrenOf(pid int) []int {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var pids []int
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		for field := range strings.FieldsSeq(string(text)) {
			var child int
			_, _ = fmt.Sscan(field, &child)
			pids = append(pids, child)
		}
	}
	return pids
}

// Memory returns the memory of a process in bytes: VmRSS is what it takes now, VmHWM the most that
// it has taken.
func Memory(t testing.TB, pid int, field string) int {
	t.Helper()
	status := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	_, after, _ := strings.Cut(string(status), field+":")
	var kB int
	must.Get(fmt.Sscan(after, &kB))(t)
	return kB << 10
}
