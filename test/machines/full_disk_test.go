package machines

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

const diskSize = 400 << 20

// smallDisk mounts a disk of diskSize, and returns its directory and how many bytes were used of it at most.
func smallDisk(t *testing.T) (dir string, most func() int64) {
	t.Helper()
	dir = t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", diskSize), "tmpfs", dir).Run() != nil {
		t.Skip("mounting a disk requires root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	var highest atomic.Int64
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			var s unix.Statfs_t
			if unix.Statfs(dir, &s) == nil {
				highest.Store(max(highest.Load(), int64(s.Blocks-s.Bfree)*s.Bsize))
			}
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
		}
	}()
	return dir, highest.Load
}

// A job that prints without end, however it does that, is stopped before it fills the disk of the store, and
// others notice nothing. Nothing of its output stays.
func TestAJobThatPrintsWithoutEndFillsNoDisk(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 2, map[string]string{
		"it ignores signals, and so do its children": `trap '' TERM HUP INT; for i in 1 2 3; do setsid sh -c 'trap "" TERM; cat /dev/zero' & done; cat /dev/zero`,
		"one endless line":                           `while :; do head -c 1000000 /dev/zero | tr '\0' x; done`,
		"lines":                                      `yes "$(head -c 200 /dev/zero | tr '\0' x)"`,
		"on standard error":                          `cat /dev/zero >&2`,
		"a sparse file":                              `truncate -s 10G /proc/self/fd/1; sleep 1000`,
		"children that outlive it":                   `setsid cat /dev/zero & setsid cat /dev/zero & exit 0`,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, most := smallDisk(t)
			n := rig.Start(t, vars{"CLAUDE_BIN": rig.Script(t, "cat >/dev/null\necho '{\"type\":\"system\",\"subtype\":\"init\"}'\n"+c+"\n"), "DATA_DIR": filepath.Join(dir, "data"), "RETRY_BACKOFF": "10ms"})
			id := n.Create(t, object{"userId": "u1"})
			record := n.Await(t, id, "failed")
			if name != "children that outlive it" {
				must.Equal(t, "output_limit", record["errorCode"], "it failed with")
			}
			must.Eventually(t, "the files of the turns to be removed", func() bool {
				return len(must.Get(filepath.Glob(filepath.Join(dir, "data/nodes/*/jobs/*/turn-*")))(t)) == 0
			})
			n.WantReady(t)
			if used := most(); used > 250<<20 {
				t.Errorf("%d MiB of the disk were used", used>>20)
			}
			t.Logf("%d MiB of the disk were used at most", most()>>20)
		})
	}
}

// A server that shares a full disk with its store reports it and refuses new jobs, but still does what people ask. It starts
// again like this, and goes on by itself when there is room.
func TestAFullDiskStopsNoServer(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(t *testing.T, n *rig.Node, env vars) *rig.Node{
		"it goes on": func(_ *testing.T, n *rig.Node, _ vars) *rig.Node { return n },
		"it is killed and starts again": func(t *testing.T, n *rig.Node, env vars) *rig.Node {
			n.Stop(t, syscall.SIGKILL)
			return rig.Start(t, env)
		},
		"it is stopped and starts again": func(t *testing.T, n *rig.Node, env vars) *rig.Node {
			n.Stop(t, syscall.SIGTERM)
			return rig.Start(t, env)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := smallDisk(t)
			env := vars{"CLAUDE_BIN": rig.Script(t, "cat >/dev/null\necho '{\"type\":\"system\",\"subtype\":\"init\"}'\ntrap '' TERM\nuntil [ -e fill ]; do sleep 0.05; done\ncat /dev/zero > filled; sleep 1000\n"), "DATA_DIR": filepath.Join(dir, "data")}
			n := rig.Start(t, env)
			id, other := n.Create(t, object{"userId": "u1"}), n.Create(t, object{"userId": "u2"})
			var works []string
			must.Eventually(t, "the job to begin", func() bool {
				works = must.Get(filepath.Glob(filepath.Join(dir, "data/nodes/*/jobs/"+id+"/work")))(t)
				return len(works) > 0 && len(rig.ProcessesIn(env["DATA_DIR"])) > 0
			})
			must.OK(t, os.WriteFile(filepath.Join(works[0], "fill"), nil, 0o600))
			must.Eventually(t, "the disk to be full", func() bool {
				status, answer := n.Ready(t)
				return status == http.StatusServiceUnavailable && strings.Contains(fmt.Sprint(answer), "nothing can be written")
			})
			n = again(t, n, env)
			for range 20 {
				status, answer := n.Do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": rig.MealInput(), "userId": "u3"})
				if status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(answer), "its disk is full") {
					t.Fatalf("a new job is answered with %d %v", status, answer)
				}
				must.Equal(t, "running", n.Want(t, http.StatusOK, "GET", "/api/jobs/"+id, nil)["status"], "the job is")
			}
			must.Equal(t, "cancelled", n.Want(t, http.StatusOK, "POST", "/api/jobs/"+other+"/cancel", object{})["status"], "cancelled, another job is")
			n.Want(t, http.StatusOK, "POST", "/api/jobs/"+id+"/cancel", object{})
			must.Eventually(t, "the server to be ready", func() bool { status, _ := n.Ready(t); return status == http.StatusOK })
			n.Want(t, http.StatusOK, "POST", "/api/jobs/"+n.Create(t, object{"userId": "u3"})+"/cancel", object{})
			must.NotContain(t, n.Log.String(), "the embedded Redis has ended")
		})
	}
}
