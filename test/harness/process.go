package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/scan"
)

// ProcessesUnder returns the processes with a working directory under dir.
func ProcessesUnder(dir string) []int {
	return slices.DeleteFunc(scan.Processes(), func(pid int) bool {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		return err != nil || !strings.HasPrefix(cwd, dir)
	})
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
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks)
	var pids []int
	for _, thread := range threads {
		text, _ := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
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
