package process

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/untrusted"
)

// machineMounts caches what all sandboxes show of the machine for a second, because finding it takes
// 200 system calls.
type machineMounts struct {
	mu sync.Mutex
	at time.Time
	// known are the mounts with and without caches.
	known map[bool]mounts
}

// mounts returns the mounts, for the caller to complete.
func (c *machineMounts) mounts(s Sandbox, caches bool) mounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > time.Second {
		c.at = time.Now()
		clear(c.known)
	}
	if c.known[caches] == nil {
		c.known[caches] = s.ofMachine(caches)
	}
	return maps.Clone(c.known[caches])
}

// ofMachine finds what all sandboxes show of the machine.
func (s Sandbox) ofMachine(caches bool) mounts {
	m := mounts{}
	m.root()
	m["/dev"] = []string{"--dev", "/dev"}
	m.kernel()
	if s.user != 0 {
		m.empty("/dev/shm") // otherwise only bubblewrap's user can write it
		m.accounts()
	}
	for _, path := range []string{"/tmp", "/var/tmp", "/run"} {
		m.empty(path)
	}
	m.home(s.opts.Home, caches)
	for _, path := range slices.Concat(resolvers, s.opts.Readable) {
		m.bind("--ro-bind-try", path, path)
	}
	for _, dir := range filepath.SplitList(s.opts.Path) {
		if filepath.IsAbs(dir) && !m.holdsHidden(resolved(dir)) && m.hides(resolved(dir)) {
			m.bind("--ro-bind-try", dir, dir)
		}
	}
	return m
}

// resolvers are the directories for host name lookups, within the hidden /run.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}

// root shows the top-level directories one by one, read-only. A bind of "/" would include the
// mounts below /run, which is hidden anyway, and fail if one of them (network namespaces,
// root file systems of other containers) disappeared at that moment. An empty directory is
// created instead of bound, which is faster.
func (m mounts) root() {
	entries, err := os.ReadDir("/")
	if err != nil {
		return // FindSandbox then reports that nothing runs
	}
	for _, entry := range entries {
		path := "/" + entry.Name()
		if entry.Type().IsRegular() {
			continue // left by installers; each mount would cost a tenth of a millisecond
		}
		if entry.IsDir() {
			if names, ok := shownIn(path, 0, anything); ok && len(names) == 0 {
				m[path] = []string{"--dir", path}
				continue
			}
		}
		m.show(path)
	}
	m["/"] = []string{"--remount-ro", "/"}
}

// homeTools are the directories of a home that contain programs and no credentials.
var homeTools = []string{
	".asdf", ".bun/bin", ".cargo/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/claude", ".local/share/mise",
	".nvm", ".pyenv", ".rustup", ".sdkman", ".volta", "go/bin", "sdk",
}

// homeCaches are the directories in which package managers and compilers keep downloads
// and builds.
var homeCaches = []string{
	".cache", ".cargo/git", ".cargo/registry", ".gradle", ".ivy2", ".local/share/pnpm", ".m2", ".npm", ".nuget", ".yarn", "go/pkg",
}

// home empties a home directory except for its programs. Its caches are links to one directory: a
// mount for each of them would take most of the sandbox's start time. A home that does not exist, as
// for service accounts, needs nothing.
func (m mounts) home(home string, caches bool) {
	if info, err := os.Stat(home); err != nil || !info.IsDir() || resolved(home) == "/" {
		return
	}
	m.empty(home)
	for _, tool := range homeTools {
		path := filepath.Join(home, tool)
		if _, err := os.Stat(path); err == nil {
			m.bind("--ro-bind-try", path, path)
		}
	}
	if caches {
		for _, name := range homeCaches {
			path := filepath.Join(resolved(home), name)
			m[path] = []string{"--symlink", filepath.Join(cachesDir, cacheName(name)), path}
		}
	}
}

// cachesDir is the path of a job's caches in a sandbox.
const cachesDir = "/run/ringback/caches"

func cacheName(inHome string) string { return strings.ReplaceAll(inHome, "/", "-") }

// prepareCaches prepares a job's directory of caches. It returns false if there is none. It follows no
// links that a job has put there.
func prepareCaches(dir string) bool {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	d, err := untrusted.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	for _, name := range homeCaches {
		if cache, err := d.MakeDir(cacheName(name)); err == nil { // otherwise a job has put something else there
			cache.Close()
		}
	}
	return true
}

// kernel mounts the kernel's own file systems. /proc is the sandbox's own, with its own
// processes, but its other files belong to the machine, and their owner may write them
// without any capability. The owner is root, which matters if the server runs as root, so
// all of /proc is read-only. Of /sys, only the parts are mounted that show how many
// processors and how much memory a program may use.
func (m mounts) kernel() {
	m["/proc"] = []string{"--proc", "/proc", "--remount-ro", "/proc"}
	for _, dir := range []string{"/sys", "/sys/devices", "/sys/fs"} { // bubblewrap would make them for its own user only
		m[dir] = []string{"--perms", "0755", "--dir", dir}
	}
	for _, path := range []string{"/sys/devices/system", "/sys/fs/cgroup"} {
		m.bind("--ro-bind-try", path, path)
	}
	for _, file := range aboutOthers {
		if unix.Access(file, unix.R_OK) == nil {
			m.bind("--ro-bind", "/dev/null", file)
		}
	}
}

// aboutOthers are files of /proc that reveal processes outside the sandbox. Each costs a
// mount, so no others are covered.
var aboutOthers = []string{"/proc/keys", "/proc/timer_list"}
