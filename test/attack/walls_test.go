package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// seenPlace makes a directory that sandboxes show, unlike those of other tests.
func seenPlace(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root writes there")
	}
	dir := must.Get(os.MkdirTemp("/var/lib", "ringback-attack"))(t) //nolint:usetesting // see above
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.OK(t, os.Chmod(dir, 0o755))
	return dir
}

// whileRunning repeats a step until the test ends or stop is called.
func whileRunning(t *testing.T, step func(n int)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			step(n)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// A file of secrets is replaced while a job looks for it, as editors and rotations of keys do: by a
// rename, a rename that keeps the old file, and a new link.
func TestSecretsAreNotReadWhileTheyAreReplaced(t *testing.T) {
	t.Parallel()
	for name, s := range chosen(t, setups(sandboxed)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := seenPlace(t)
			keys := filepath.Join(dir, "keys")
			key := fmt.Sprintf("shop sha256:%x\n", sha256.Sum256([]byte(shopKey)))
			must.OK(t, os.WriteFile(keys, []byte(key), 0o644))
			a := attackFrom(t, s.place, s.ordinary, rules{}, harness.Vars{"SANDBOX": "require", "API_KEYS_FILE": keys})
			text := "# " + a.mark + "\n" + key
			stop := whileRunning(t, func(n int) {
				next := fmt.Sprint(keys, ".", n%3)
				_ = os.WriteFile(next, []byte(text), 0o644)
				switch n % 3 {
				case 0:
					_ = os.Rename(next, keys)
				case 1:
					_ = os.Rename(keys, keys+"~")
					_ = os.Rename(next, keys)
				case 2:
					_ = os.Remove(keys)
					_ = os.Symlink(next, keys)
				}
			})
			scripts := []string{
				"[ -d DIR ] && echo shown", "for n in $(seq 200); do cat DIR/keys DIR/keys* DIR/* 2>/dev/null; done", "for n in $(seq 200); do grep -rs planted DIR; done",
				"for n in $(seq 100); do tar cf - -C DIR . 2>/dev/null | strings | grep planted; done", "python3 -c 'import os\nfor n in range(5000):\n try: print(open(\"DIR/keys\").read())\n except OSError: pass'",
				"umount DIR; umount -l DIR; cat DIR/keys", "for n in $(seq 50); do cat /proc/1/root/DIR/keys /proc/self/root/DIR/keys; done", "cd DIR; for n in $(seq 100); do cat keys; done",
			}
			for i := range scripts {
				scripts[i] = strings.ReplaceAll(scripts[i], "DIR", dir)
			}
			for i, said := range a.runAll(scripts) {
				if i == 0 {
					must.Equal(t, "shown", strings.TrimSpace(said), "the directory")
				}
				must.NotContain(t, said, a.mark, scripts[i])
			}
			stop()
		})
	}
}

// The files from which the server took its secrets are hidden from jobs, wherever they are.
func TestFilesWithSecretsAreNotSeen(t *testing.T) {
	t.Parallel()
	for name, s := range chosen(t, setups(sandboxed)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := seenPlace(t)
			secret := fmt.Sprint("planted-in-a-file-", rand.Uint64())
			for _, file := range []string{"own/jwt", "credentials/GH_TOKEN"} {
				must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(secret), 0o644))
			}
			must.OK(t, os.WriteFile(dir+"/seen", []byte("seen"), 0o644))
			a := attackFrom(t, s.place, s.ordinary, rules{}, harness.Vars{
				"SANDBOX": "require", "JWT_SECRET": "", "JWT_SECRET_FILE": dir + "/own/jwt", "GH_TOKEN": "", "CREDENTIALS_DIRECTORY": dir + "/credentials",
			})
			scripts := []string{
				"cat DIR/seen", "cat DIR/own/jwt DIR/credentials/GH_TOKEN", "grep -rs planted DIR", "cat /proc/1/root/DIR/own/jwt /proc/self/root/DIR/own/jwt", "umount DIR/own; umount -l DIR/own; cat DIR/own/jwt",
				"env; cat /proc/[0-9]*/environ",
			}
			for i := range scripts {
				scripts[i] = strings.ReplaceAll(scripts[i], "DIR", dir)
			}
			said := a.runAll(scripts)
			must.Equal(t, "seen", strings.TrimSpace(said[0]))
			for i := range scripts {
				must.NotContain(t, said[i], secret, scripts[i])
			}
		})
	}
}

// swaps are what operators, editors and deployments do with the files of secrets of a server in top/app,
// and the directories above. SECRET is a command that prints one. What they move aside keeps its secrets,
// as the release before does.
var swaps = []string{
	"SECRET > top/app/.env", "SECRET > top/app/new && mv top/app/new top/app/.env", "SECRET > top/app/.env~", "rm -f top/app/.env; sleep 0.01; SECRET > top/app/.env",
	"cp -f top/app/.env top/app/.env~; SECRET > top/app/.env", "SECRET > top/app/later; rm -f top/app/.env; ln top/app/later top/app/.env",
	"SECRET > top/app/.env; cp -r top/app STAGE; mv top/app top/old-$$; mv STAGE top/app; rm -rf top/old-[0-9]*[13579]", "rm -rf top/app; mkdir -p STAGE; SECRET > STAGE/.env; mv STAGE top/app",
	"SECRET > top/app/.env; mv top/app top/to-$$; ln -sfn to-$$ top/app; sleep 0.02; rm top/app; mv top/to-$$ top/app", "cp -r top STAGE; SECRET > STAGE/app/.env; mv top old-$$; mv STAGE top; rm -rf old-*",
	"mkdir STAGE; SECRET > STAGE/.env; mount --bind STAGE top/app; sleep 0.02; umount -l top/app; rm -rf STAGE", "mount -t tmpfs none top/app; SECRET > top/app/.env; sleep 0.02; umount -l top/app", "rm -rf top; sleep 0.01; mkdir -p STAGE/app; SECRET > STAGE/app/.env; mv STAGE top",
}

// Random swaps of its files of secrets, while a server's jobs look for them, show none to a job in the
// sandbox. Without a sandbox, the same jobs see them.
func TestRandomSwapsShowNoSecrets(t *testing.T) {
	t.Parallel()
	for name, m := range chosen(t, everyMode()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, stage, saw := seenPlace(t), t.TempDir(), false
			t.Cleanup(func() { _ = syscall.Unmount(base+"/top/app", syscall.MNT_DETACH) })
			must.OK(t, os.MkdirAll(base+"/top/app", 0o755))
			must.OK(t, os.WriteFile(base+"/seen", []byte("seen"), 0o644))
			a := attackFrom(t, inAction, m.ordinary, rules{}, harness.Vars{"SANDBOX": m.sandbox, "PWD": base + "/top/app"})
			look := fmt.Sprintf("cat %[1]s/seen; cd %[1]s; for n in $(seq 60); do grep -rs planted %[1]s; cat %[1]s/top/app/.env* top/app/.env /proc/self/root/%[1]s/top/app/.env; done 2>/dev/null", base)
			randomly(t, 4, func(r *rand.Rand) {
				stop := whileRunning(t, func(n int) {
					script := strings.NewReplacer("SECRET", "echo "+a.mark, "STAGE", fmt.Sprint(stage, "/", n)).Replace(one(r, swaps...))
					cmd := exec.CommandContext(t.Context(), "sh", "-c", "umask 022; "+script)
					cmd.Dir = base
					_ = cmd.Run()
				})
				said := a.runAll([]string{look})[0]
				stop()
				must.Contain(t, said, "seen")
				saw = saw || strings.Contains(said, a.mark)
			})
			must.Equal(t, m.sandbox == "off", saw, "a job has seen a secret")
		})
	}
}

// A file system that is mounted on the machine while a job runs is neither seen nor written by it.
func TestWhatIsMountedDuringAJobStaysOut(t *testing.T) {
	t.Parallel()
	for name, s := range chosen(t, setups(sandboxed)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := seenPlace(t)
			t.Cleanup(func() {
				_ = syscall.Unmount(dir+"/disk", syscall.MNT_DETACH)
				_ = syscall.Unmount(dir, syscall.MNT_DETACH)
			})
			if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m,mode=755"); err != nil {
				t.Skip(err)
			}
			must.OK(t, syscall.Mount("", dir, "", syscall.MS_SHARED, "")) // as on a machine with systemd
			must.OK(t, os.Mkdir(dir+"/disk", 0o755))
			a := attackFrom(t, s.place, s.ordinary, rules{}, harness.Vars{"SANDBOX": "require"})
			stop := whileRunning(t, func(int) { // never while it is not mounted or in use: it starts once
				if _, err := os.Stat(dir + "/disk/planted"); err == nil || !isRunning("during-"+filepath.Base(dir)) {
					return
				}
				_ = syscall.Mount("none", dir+"/disk", "tmpfs", 0, "size=1m,mode=777")
				_ = os.WriteFile(dir+"/disk/planted", nil, 0o644)
			})
			scripts := []string{
				"sh -c 'for n in $(seq 30); do sleep 0.1; ls DIR/disk; echo x > DIR/disk/written; done' during-" + filepath.Base(dir),
			}
			scripts[0] = strings.ReplaceAll(scripts[0], "DIR", dir)
			said := a.runAll(scripts)[0]
			stop()
			must.NotContain(t, said, "planted", "a job has seen what was mounted while it ran")
			if _, err := os.Stat(dir + "/disk/planted"); err != nil {
				t.Fatalf("nothing was mounted: %v", err)
			}
			if _, err := os.Stat(dir + "/disk/written"); err == nil {
				t.Error("a job has written what was mounted while it ran")
			}
		})
	}
}

// nests makes so many directories within each other in a turn, and calls an action, whose command works
// in the same directory.
const nests = `python3 -c 'import os
for n in range(LEVELS):
 os.mkdir("d")
 os.chdir("d")
open("f", "w")' >&2 || exit
cd -P "$(dirname "$0")"
value() { sed -n "s/^- $1: //p" prompt | tail -1; }
printf '{"requestId":"%s","hmac":"%s","input":INPUT}' "$(value REQUEST_ID)" "$(value HMAC_SIGNATURE)" > call
curl -sS "$(value CALLBACK_BASE_URL)/api/claude/actions/attack" -H 'Content-Type: application/json' -d @call | base64 -w0`

// Directories within each other, deeper than descriptors and paths reach, hold neither the job's next
// program nor its end, and are removed.
func TestNestedDirectoriesHoldNothing(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct {
		mode
		levels string
	}{"root, sandbox": {mode{false, "require"}, "30000"}, "ordinary, sandbox": {mode{true, "require"}, "3000"}, "ordinary, no sandbox": {mode{true, "off"}, "3000"}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attackFrom(t, inTurn, c.ordinary, rules{}, harness.Vars{"SANDBOX": c.sandbox})
			input := must.Get(json.Marshal(harness.Object{"script": `echo '{"out":"'$(ls)'"}'`}))(t)
			input = bytes.ReplaceAll(input, []byte("'"), []byte(`'\''`))
			record := a.runJob(strings.NewReplacer("LEVELS", c.levels, "INPUT", string(input)).Replace(nests))
			result, _ := record["result"].(harness.Object)
			answer := must.Get(base64.StdEncoding.DecodeString(fmt.Sprint(result["out"])))(t)
			must.Contain(t, string(answer), `"out":"d"`, "the action in the nested directory was answered")
			harness.Eventually(t, "the removal of its files", func() bool {
				found, err := filepath.Glob(filepath.Join(a.Dir, "nodes", "*", "jobs", fmt.Sprint(record["requestId"])))
				return err == nil && len(found) == 0
			})
		})
	}
}

// The server reads a job's repository to judge a call of git. The job puts endless files, links, and
// pipes that nobody writes in place of its files, before and while they are read.
func TestARepositoryThatIsSwappedWhileItIsRead(t *testing.T) {
	t.Parallel()
	r := startRuled(t, harness.Ordinary(), "  allow: ['Bash(git *)']\n  ask: [Write]\n")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", r.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	judged := func() string {
		decision, _ := r.calls(t, "Bash", harness.Object{"command": "git status"})
		return decision
	}
	must.Equal(t, "allow", judged(), "in a plain repository")
	attacks := []func(name string) error{
		func(name string) error { return os.Symlink("/dev/zero", name) },
		func(name string) error { return os.Symlink("/dev/tty", name) },
		func(name string) error { return syscall.Mkfifo(name, 0o666) },
		func(name string) error { return os.Mkdir(name, 0o755) },
		func(name string) error { return unix.Mknod(name, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }, // only root may
	}
	var swapped []string
	for _, name := range []string{".git/config", ".git/index", ".git/hooks", ".git"} {
		swapped = append(swapped, filepath.Join(r.dir, name))
	}
	must.OK(t, os.WriteFile(swapped[1], nil, 0o644))
	for _, name := range swapped {
		must.OK(t, os.Rename(name, name+"-kept"))
		for n, put := range attacks {
			if put(name) != nil {
				continue
			}
			if decision := judged(); decision == "allow" && (n != 3 || filepath.Base(name) != "hooks") {
				t.Errorf("git was allowed with attack %d in place of %s", n, name)
			}
			must.OK(t, os.RemoveAll(name))
		}
		must.OK(t, os.Rename(name+"-kept", name))
	}
	others := make([]string, 3)
	for n := range others {
		others[n] = filepath.Join(r.dir, fmt.Sprint("other", n))
		must.OK(t, attacks[n](others[n]))
	}
	stop := whileRunning(t, func(n int) {
		for range 2 { // there and back
			_ = unix.Renameat2(unix.AT_FDCWD, swapped[n%2], unix.AT_FDCWD, others[n%len(others)], unix.RENAME_EXCHANGE)
		}
	})
	for range 1000 {
		judged()
	}
	stop()
	if peak := peakMemory(t, r.Cmd.Process.Pid); peak > 1<<20 {
		t.Errorf("the server took %d kB of memory", peak)
	}
}

// peakMemory returns the most memory that a process has taken, in kB.
func peakMemory(t *testing.T, pid int) (kB int) {
	t.Helper()
	for line := range strings.Lines(string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t))) {
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &kB)
	}
	return kB
}
