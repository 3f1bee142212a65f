package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// enter gives a script a machine with all files of this one, on which root may change anything: changes are kept
// in memory and are gone when it ends. It starts in a directory with the files of the release. systemctl does
// nothing but note how it was called. The index of manual pages is not rebuilt, which takes a while.
const enter = `
mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir changed work root
mount -t overlay overlay -o lowerdir=/,upperdir=changed,workdir=work root
mount --rbind /dev root/dev && mount -t proc proc root/proc
mkdir -p root/release root/run/systemd/system root/old && cp "$2"/* root/release/
printf '#!/bin/sh\necho "$*" >>/release/systemctl\n' >systemctl && install -m 755 systemctl root/usr/bin/systemctl
rm -f root/var/lib/man-db/auto-update
cd root && pivot_root . old && umount --lazy old && cd /release
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
exec bash -euc "$3"`

// onMachine runs a script of root's on a machine of its own, and returns its output.
func onMachine(t *testing.T, release, script string) string {
	t.Helper()
	cmd := exec.CommandContext(
		t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", enter, "bash", t.TempDir(), release, script,
	)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // a machine of its own has no other variables of this one
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	must.OK(t, err, log.String(), string(out))
	return string(out)
}

// needsMachine skips a test that cannot have one.
func needsMachine(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil || os.Getuid() != 0 {
		t.Skip("only root of Debian or Ubuntu can install a package")
	}
	if out, err := exec.Command("dpkg", "--status", "bubblewrap", "ca-certificates", "curl", "git", "redis-server").CombinedOutput(); err != nil {
		t.Skipf("what the package depends on is not installed: %s", out)
	}
	dir := filepath.Join(t.TempDir(), "empty")
	must.OK(t, os.Mkdir(dir, 0o755))
	if out, err := exec.Command("unshare", "--mount", "bash", "-euc", `mount -t tmpfs tmpfs "$1"; mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o lowerdir=/,upperdir="$1/up",workdir="$1/work" "$1/root"`, "bash", dir).CombinedOutput(); err != nil {
		t.Skipf("there are no overlays here: %s", out)
	}
}
