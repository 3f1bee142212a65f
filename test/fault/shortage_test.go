package fault

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ringback/test/harness"
)

// smallDisk puts the DATA_DIR of the first node on a small disk and returns the faults of that disk. It
// returns none if mounting is not permitted, if the store itself is in DATA_DIR, or if all jobs are of one
// flow, which may fill the disk by what it keeps.
func (w *world) smallDisk() []fault {
	dir, image := w.env[0]["DATA_DIR"], filepath.Join(w.t.TempDir(), "image")
	const mount = `truncate -s 128M "$1" && mkfs.ext4 -q -m 0 -N 20000 "$1" && mount -o loop "$1" "$2" && rmdir "$2/lost+found"`
	unfit := w.settings.flow != "" || w.topology.nodes < 2 && !w.topology.smallStore
	if unfit || exec.Command("sh", "-c", mount, "sh", image, dir).Run() != nil {
		return nil
	}
	w.t.Cleanup(func() { _ = exec.Command("sh", "-c", `fsfreeze -u "$1"; umount -l "$1"`, "sh", dir).Run() })
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
		{"disk full", fill(func() { _ = os.WriteFile(filepath.Join(ballast, "0"), make([]byte, 128<<20), 0o600) })},
		{"no inodes left", fill(func() {
			for i := 0; os.WriteFile(filepath.Join(ballast, strconv.Itoa(i)), nil, 0o600) == nil; i++ {
			}
		})},
		{"disk hangs", func() {
			if exec.Command("fsfreeze", "-f", dir).Run() == nil {
				w.sleep(w.t.Context(), 6000)
				_ = exec.Command("fsfreeze", "-u", dir).Run()
			}
		}},
	}
}

// loseDirectory removes a directory that a server has made in its DATA_DIR.
func (w *world) loseDirectory() {
	names := []string{"conversations", "mirrors", "workspaces", "nodes/0/jobs"}
	dir := w.env[w.rand.IntN(len(w.env))]["DATA_DIR"]
	_ = os.RemoveAll(filepath.Join(dir, names[w.rand.IntN(len(names))])) // the server may be writing to it
}

// startCopy starts a server with a copy of a node's DATA_DIR, which must refuse.
func (w *world) startCopy() {
	i := w.rand.IntN(len(w.env))
	dir, err := os.MkdirTemp(w.t.TempDir(), "copy")
	if err != nil {
		w.t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	_ = exec.Command("cp", "-a", w.env[i]["DATA_DIR"]+"/.", dir).Run() // files that have just gone are missing
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	serve := exec.CommandContext(ctx, harness.Binary(), "serve")
	env := maps.Clone(w.env[i])
	env["DATA_DIR"], env["LISTEN_ADDR"], env["PATH"], env["LOG_FORMAT"] = dir, "127.0.0.1:0", os.Getenv("PATH"), "text"
	for name, value := range env {
		serve.Env = append(serve.Env, name+"="+value)
	}
	if place := w.place[i]; place != nil {
		place(serve)
	}
	if said, err := serve.CombinedOutput(); err == nil || strings.Contains(string(said), "Ringback listens") {
		w.t.Errorf("%s: a copy of a node has started: %s", w.topology.name, said)
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
