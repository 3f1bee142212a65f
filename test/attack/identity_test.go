package attack

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"ringback/test/must"
)

// In a sandbox, nothing runs as root, even if the server does: neither by its user id
// inside nor by its real one outside, and no program makes it root.
func TestNothingRunsAsRoot(t *testing.T) {
	t.Parallel()
	inEachSandbox(t, func(a *attacked) {
		script := strings.Join([]string{
			`echo "uid=$(id -u) gid=$(id -g) groups=$(id -G) name=$(id -un)"`,
			`cp "$(command -v id)" rootly; chmod 6755 rootly; echo "setuid=$(./rootly -u)"`,
			`grep -E '^(Uid|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status /proc/1/status`,
			`echo "outside=$(awk -v id="$(id -u)" '$1 <= id && id < $1 + $3 {print $2 + id - $1}' /proc/self/uid_map)"`,
			`for f in /etc/shadow $(find /etc /var /opt /srv /root /home -type f ! -user "$(id -u)" ! -perm -o=r -readable 2>/dev/null | head -20); do head -c1 $f >/dev/null 2>&1 && echo "read=$f"; done`,
			`t=$(mktemp) && echo x > $t && echo x > ~/new && echo x > /dev/shm/new && mkdir -p ~/.local/state && echo x | tee /dev/stderr && echo works=all`,
			`python3 -c 'import os, pwd; print("home=" + pwd.getpwuid(os.getuid()).pw_dir)'`,
			`echo x > ` + filepath.Join(filepath.Dir(a.Dir), "writable", "owned"),
		}, "\n")
		var said string
		if a.place == inAction {
			said = a.run(script)
		} else {
			said = a.runInJob("{ " + script + "\n} 2>&1 | base64 -w0")
		}
		// An ordinary user's sandbox has nested namespaces, which hide the id.
		if !a.ordinary && !regexp.MustCompile(`outside=[1-9]`).MatchString(said) {
			a.t.Errorf("the system takes a job for root: %s", said)
		}
		for _, bad := range []string{`\buid=0`, `gid=0`, `groups=(0|.*\b0\b)`, `setuid=0`, `read=`, `Uid:.*\s0\b`, `CapPrm:.*[1-9a-f]`, `NoNewPrivs:\s*0`} {
			if regexp.MustCompile(bad).MatchString(said) {
				a.t.Errorf("%s is in: %s", bad, said)
			}
		}
		for _, want := range []string{`\buid=[1-9]`, `setuid=[1-9]`, `works=all`, `home=/`} {
			if !regexp.MustCompile(want).MatchString(said) {
				a.t.Errorf("%s is not in: %s", want, said)
			}
		}
		if a.place != inAction {
			return
		}
		info, err := os.Stat(filepath.Join(filepath.Dir(a.Dir), "writable", "owned"))
		must.OK(a.t, err)
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid == 0 {
			a.t.Error("what a job wrote is root's")
		}
	})
}
