package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/untrusted"
)

// jobUser is the user, and the group, that programs in a sandbox run as if the server runs as
// root. systemd, distributions and containers leave this ID unassigned.
const jobUser = 61000

// userOfJobs returns the user that programs in a sandbox run as, and the program that
// switches to that user; 0 for the server's own user.
func userOfJobs() (uid int, setpriv string, err error) {
	if os.Geteuid() != 0 {
		return 0, "", nil
	}
	if setpriv, err = exec.LookPath("setpriv"); err != nil {
		return 0, "",
			errors.New("the server runs as root, and setpriv, which gives jobs another user, is not on PATH: install util-linux, or run the server as an ordinary user")
	}
	return jobUser, setpriv, nil
}

// Denies describes which access to a path, which is not the server's own, the user of the jobs
// lacks; "" for none.
func (s Sandbox) Denies(path string, write bool) string {
	var stat unix.Stat_t
	if s.user == 0 || unix.Stat(path, &stat) != nil || int(stat.Uid) == s.user {
		return ""
	}
	allowed, verb, mode := stat.Mode&unix.S_IROTH != 0, "read", "r"
	if write {
		allowed, verb, mode = stat.Mode&unix.S_IWOTH != 0, "write", "w"
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		allowed, mode = allowed && stat.Mode&unix.S_IXOTH != 0, mode+"x"
	}
	if allowed {
		return ""
	}
	return fmt.Sprintf(
		"the server runs as root and its jobs as the user %d, who may not %s %s: chown it to that user, chmod o+%s it, or run the server as an ordinary user",
		s.user, verb, path, mode,
	)
}

// usersOption makes bubblewrap create a user namespace and wait until fillUsers has filled it. The
// server cannot create it: Go would then fork with a copy of the server's page tables, which takes
// milliseconds.
func (s Sandbox) usersOption() []string {
	if s.user == 0 {
		return []string{"--unshare-user-try"}
	}
	return []string{"--unshare-user", "--userns-block-fd", fdOf(usersFile)}
}

// fillUsers adds two users to the user namespace of a sandbox: root, as which bubblewrap sets up the
// sandbox, and the user of the jobs, which the first process becomes. Then it lets bubblewrap
// continue. Neither user has any rights outside. If the server dies first, the first process runs
// as nobody and cannot set up the sandbox.
func (s Sandbox) fillUsers(first int, wait *os.File) error {
	both := fmt.Sprintf("0 0 1\n%d %d 1\n", s.user, s.user)
	for _, ids := range []string{"uid_map", "gid_map"} {
		if err := os.WriteFile("/proc/"+strconv.Itoa(first)+"/"+ids, []byte(both), 0); err != nil {
			return fmt.Errorf("the users of a sandbox: %w", err)
		}
	}
	_, err := wait.Write([]byte("\n"))
	return err
}

// handOver makes the user of the jobs the owner of the server's files in a sandbox: those that
// the server has written since the last program ran. The server, as root, can still read and
// remove them.
func (s Sandbox) handOver(ctx context.Context, access Access) error {
	if s.user == 0 || access.AsServer {
		return nil
	}
	own := slices.AppendSeq(append([]string{access.Caches}, access.Writable...), maps.Values(access.Kept))
	for _, path := range access.Readable {
		if s.isHidden(path) {
			own = append(own, path)
		}
	}
	for _, path := range own {
		if path == "" {
			continue
		}
		if err := untrusted.IgnoreGone(handOver(ctx, path, s.user)); err != nil { // bubblewrap reports what does not exist
			return err
		}
	}
	return nil
}

// maxOwn limits the files and directories of a job that are handed over before a program starts.
const maxOwn = 2_000_000

// handOver changes the owner of root's files in a directory. Programs of jobs may run there
// at the same time: it follows no link, and skips a file of root's that has other hard links.
// It also skips what lies too deep for the server to have written it.
func handOver(ctx context.Context, path string, uid int) error {
	return untrusted.Walk(ctx, path, maxOwn, func(e untrusted.Entry, err error) error {
		switch {
		case errors.Is(err, untrusted.ErrTooDeep):
			return nil
		case err != nil:
			return untrusted.IgnoreGone(err)
		case e.Stat.Uid != 0 || !e.HasOneName():
			return nil
		}
		return untrusted.IgnoreGone(e.Lchown(uid))
	})
}

// handOverStreams lets a program open its standard streams by names such as /dev/stdout.
func (s Sandbox) handOverStreams(pid int) {
	if s.user == 0 {
		return
	}
	for fd := range 3 {
		file := "/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd)
		if info, err := os.Stat(file); err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0) {
			_ = os.Chown(file, s.user, s.user) // if it fails, the stream cannot be opened by that name
		}
	}
}

// openWay empties directories that lead to a mounted path and that only root may enter:
// the user of the jobs sees only the mounted path in them.
func (s Sandbox) openWay(m mounts) {
	if s.user == 0 {
		return
	}
	for path := range maps.Clone(m) {
		for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
			belongs := slices.Contains(m[dir], "--bind") || s.isHidden(dir) // to the sandbox, and was handed over
			if !m.hides(dir) && !s.mayEnter(dir) && !belongs {
				m.empty(dir)
			}
		}
	}
}
