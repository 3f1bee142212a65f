package fault

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk puts the DATA_DIR of the first node on a small disk and returns the faults that fill it. It
// returns none if mounting is not permitted or the store itself is in DATA_DIR.
func (w *world) smallDisk() []fault {
	dir := w.env[0]["DATA_DIR"]
	if w.topology.nodes < 2 || exec.Command("mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=4000", "tmpfs", dir).Run() != nil {
		return nil
	}
	w.t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	ballast := filepath.Join(dir, "ballast")
	fill := func(with func()) func() {
		return func() {
			if err := os.Mkdir(ballast, 0o700); err != nil {
				w.t.Error(err)
			}
			with()
			w.sleep(w.t.Context(), 3000)
			if err := os.RemoveAll(ballast); err != nil {
				w.t.Error(err)
			}
		}
	}
	return []fault{
		{"disk full", fill(func() { _ = os.WriteFile(filepath.Join(ballast, "0"), make([]byte, 64<<20), 0o600) })},
		{"no inodes left", fill(func() {
			for i := 0; os.WriteFile(filepath.Join(ballast, strconv.Itoa(i)), nil, 0o600) == nil; i++ {
			}
		})},
	}
}

// useUpDescriptors temporarily limits a node to the file descriptors that it has open.
func (w *world) useUpDescriptors() {
	pid := w.node(w.rand.IntN(len(w.env))).Cmd.Process.Pid
	var usual unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &usual); err != nil {
		return // it has just ended
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return
	}
	few := usual
	few.Cur = uint64(len(open))
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &few, nil)
	time.Sleep(time.Duration(w.rand.IntN(2000)) * time.Millisecond)
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &usual, nil)
}
