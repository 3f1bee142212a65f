package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"ringback/test/must"
	"ringback/test/sample"
)

// User is a user that a server or another program of a test runs as.
type User struct{ uid int }

// nobody is the id of an ordinary user that exists on every system.
const nobody = 65534

// Ordinary returns an ordinary user: the one that runs the tests, unless that is root.
func Ordinary() User {
	if uid := os.Getuid(); uid != 0 {
		return User{uid}
	}
	return User{nobody}
}

// Root reports whether the user is root.
func (u User) Root() bool { return u.uid == 0 }

// EachUser runs a test as an ordinary user, and also as root if root runs the tests.
func EachUser(t *testing.T, do func(t *testing.T, u User)) {
	t.Helper()
	users := map[string]User{"ordinary": Ordinary()}
	if os.Getuid() == 0 {
		users["root"] = User{0}
	}
	for name, u := range sample.Cases(t, 1, users) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, u)
		})
	}
}

// Dir creates a directory owned by the user, which is removed when the test ends.
// Directories of testing.T.TempDir are only accessible to the user that runs the tests.
func (u User) Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ringback-user") //nolint:usetesting // see above
	must.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u.Own(t, dir)
	return dir
}

// Own gives the user ownership of a directory and everything in it.
func (u User) Own(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, u.uid, -1)
		}
		return err
	})
	must.OK(t, err)
}

// Run makes a command run as the user.
func (u User) Run(cmd *exec.Cmd) {
	if u.uid == os.Getuid() {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.uid)}
}
