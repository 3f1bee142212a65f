package docs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// newcomer is an ordinary user without a Redis or a Claude CLI, whose home directory is not
// writable.
type newcomer struct {
	t    *testing.T
	user harness.User
	path string
	bin  string
}

func newNewcomer(t *testing.T, programs ...string) newcomer {
	t.Helper()
	n := newcomer{t: t, user: harness.Ordinary()}
	n.path = n.user.Dir(t)
	for _, name := range append(programs, "sh", "env", "curl", "git") {
		program := must.Get(exec.LookPath(name))(t)
		must.OK(t, os.Symlink(program, filepath.Join(n.path, name)))
	}
	n.bin = filepath.Join(n.path, "ringback")
	text := must.Get(os.ReadFile(harness.Binary()))(t)
	harness.WriteProgram(t, n.bin, text)
	n.user.Own(t, n.path)
	return n
}

func (n newcomer) command(dir string, env vars, args ...string) *exec.Cmd {
	all := vars{"PATH": n.path, "HOME": "/nonexistent", "LISTEN_ADDR": "127.0.0.1:0", "RINGBACK_SIMULATE_PACE": "1ms", "GORACE": "exitcode=66"}
	maps.Copy(all, env)
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	n.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, n.bin, args...)
	cmd.Dir = dir
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	n.user.Run(cmd)
	return cmd
}

// types runs a command to its end.
func (n newcomer) types(dir string, env vars, args ...string) (code int, out string) {
	n.t.Helper()
	cmd := n.command(dir, env, args...)
	text, err := cmd.CombinedOutput()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		n.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// serves runs a server until it prints the expected text, calls then, and stops it like
// Ctrl-C.
func (n newcomer) serves(dir string, env vars, until string, then func(url string)) string {
	n.t.Helper()
	cmd, log := n.command(dir, env, "serve", "--demo"), harness.NewLog(n.t)
	cmd.Stdout, cmd.Stderr = log.File, log.File
	must.OK(n.t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	must.Eventually(n.t, "the server to say "+until+":\n"+log.String(), func() bool { return strings.Contains(log.String(), until) })
	_, rest, _ := strings.Cut(log.String(), "Ringback listens on ")
	url, _, _ := strings.Cut(rest, "\n")
	then(url)
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		n.t.Errorf("it ended with %v:\n%s", err, log)
	}
	return log.String()
}

// filesIn returns all files and directories under dir.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	must.OK(t, err)
	return names
}

// The effect of make run for a user who has only the program, in an empty directory.
func TestANewcomerSeesAJob(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"an empty directory": "empty", "spaces and letters": "a dir, ünïcode 日本 'x' $HOME"} {
		for store, programs := range map[string][]string{"no Redis": nil, "a Redis": {"redis-server"}} {
			t.Run(name+" and "+store, func(t *testing.T) {
				t.Parallel()
				n := newNewcomer(t, programs...)
				dir := filepath.Join(n.user.Dir(t), dir)
				must.OK(t, os.Mkdir(dir, 0o700))
				n.user.Own(t, dir)
				if code, out := n.types(dir, nil, "check"); code != 0 || !strings.Contains(out, "ok       kind meal-suggestions\n") || strings.Contains(out, "problem") {
					t.Errorf("check ended with %d:\n%s", code, out)
				}
				if left := filesIn(t, dir); len(left) != 1 {
					t.Errorf("check left %q", left)
				}
				said := n.serves(dir, nil, "The server stays up", func(url string) {
					server := vars{"RINGBACK_URL": url}
					code, out := n.types(dir, server, "run", "meal-suggestions", "--field", "dateRangeStart=2026-03-02", "--field", "dateRangeEnd=2026-03-03")
					if code != 0 || !strings.Contains(out, "received after") || !strings.Contains(out, "The id of this run cannot be saved") || !strings.Contains(out, "ringback status req_") {
						t.Errorf("run ended with %d:\n%s", code, out)
					}
					if code, out := n.types(dir, server, "list"); code != 0 || strings.Count(out, "received") != 2 {
						t.Errorf("list ended with %d:\n%s", code, out)
					}
				})
				for _, word := range []string{"ERROR", "panic", "permission denied", "Error:", "no such file"} {
					must.NotContain(t, said, word)
				}
				if left := filesIn(t, dir); slices.ContainsFunc(left, func(f string) bool { return f != "." && f != "data" && !strings.HasPrefix(f, "data/") }) {
					t.Errorf("beside its data it left %q", left)
				}
			})
		}
	}
}

// An invalid setup is reported immediately, with the setting and what to do.
func TestWhatKeepsAServerFromStartingIsSaid(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t, "redis-server")
	own, foreign := n.user.Dir(t), t.TempDir()
	file := filepath.Join(own, "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	readOnly, partly := filepath.Join(own, "read-only"), filepath.Join(own, "partly")
	for _, dir := range []string{readOnly, partly, filepath.Join(partly, "redis")} {
		must.OK(t, os.Mkdir(dir, 0o700))
	}
	n.user.Own(t, own)
	for _, dir := range []string{readOnly, filepath.Join(partly, "redis")} {
		must.OK(t, os.Chmod(dir, 0o500))
	}
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	const mayNot = ": this user may not. Start ringback in a directory that you may write to, or set DATA_DIR to one"
	for name, c := range map[string]struct {
		env  vars
		want string
		// check is true if ringback check reports it, too.
		check bool
	}{
		"a read-only directory":  {vars{"DATA_DIR": filepath.Join(readOnly, "data")}, "DATA_DIR: nothing can be written to " + readOnly + "/data" + mayNot, true},
		"somebody else's":        {vars{"DATA_DIR": filepath.Join(foreign, "x/y")}, "DATA_DIR: nothing can be written to " + foreign + "/x/y" + mayNot, true},
		"a part of another mode": {vars{"DATA_DIR": partly}, "DATA_DIR: nothing can be written to " + partly + "/redis" + mayNot, true},
		"a file":                 {vars{"DATA_DIR": file}, "DATA_DIR: nothing can be written to " + file + ": it is not a directory", true},
		"below a file":           {vars{"DATA_DIR": filepath.Join(file, "x")}, "DATA_DIR: nothing can be written to " + file + "/x: it is not a directory", true},
		"a port in use":          {vars{"LISTEN_ADDR": taken.Addr().String()}, "LISTEN_ADDR " + taken.Addr().String() + " is in use, perhaps by another ringback: stop that, or set LISTEN_ADDR", false},
		"a port for callbacks":   {vars{"CALLBACK_LISTEN_ADDR": taken.Addr().String()}, "CALLBACK_LISTEN_ADDR " + taken.Addr().String() + " is in use", false},
		"another's address":      {vars{"LISTEN_ADDR": "192.0.2.1:3001", "API_KEYS": "a-key-of-the-back-end", "CLAUDE_BIN": "simulate"}, "LISTEN_ADDR 192.0.2.1:3001: this machine has no such address", false},
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			dir := n.user.Dir(t)
			code, out := n.types(dir, c.env, "serve", "--demo")
			if line, _, _ := strings.Cut(out, "\n"); code != 1 || !strings.HasPrefix(line, "Error: "+c.want) || strings.TrimSpace(out) != line {
				t.Errorf("it ended with %d:\n%s\nwant %s", code, out, c.want)
			}
			if code, out := n.types(dir, c.env, "check"); c.check && (code != 1 || !strings.Contains(out, "problem  "+c.want)) {
				t.Errorf("check ended with %d:\n%s", code, out)
			}
			if left := filesIn(t, dir); len(left) != 1 {
				t.Errorf("it left %q", left)
			}
		})
	}
}

// onFullDisk runs a script of the newcomer's in a separate file system, at $disk, with the
// given number of free kilobytes; $disk/fill takes up the rest.
func (n newcomer) onFullDisk(free int, script string) string {
	n.t.Helper()
	disk := n.user.Dir(n.t)
	const size = 32 << 10
	mount := fmt.Sprintf(`mount -t tmpfs -o size=%dk,mode=1777 tmpfs '%s' && disk='%[2]s' && head -c %dk /dev/zero > "$disk/fill" && `, size, disk, size-free)
	cmd := n.command(disk, nil)
	cmd.Path, cmd.Args = "/usr/bin/unshare", []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount + script}
	cmd.Env = append(cmd.Env, "PATH="+n.path+":/usr/sbin:/usr/bin:/sbin:/bin")
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // it fails, and reports why
	return string(out)
}

func TestAFullDiskIsSaid(t *testing.T) {
	t.Parallel()
	const full = ": no space is left there. Free some, or set DATA_DIR to a directory on another disk\n"
	for name, programs := range map[string][]string{"no Redis": nil, "a Redis": {"redis-server"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewcomer(t, programs...)
			out := n.onFullDisk(0, `DATA_DIR="$disk/data" exec `+n.bin+` serve --demo`)
			if !strings.HasPrefix(out, "Error: DATA_DIR: nothing can be written to ") || !strings.HasSuffix(out, full) {
				t.Errorf("it says %s", out)
			}
		})
	}
	t.Run("while a job runs", func(t *testing.T) {
		t.Parallel()
		n := newNewcomer(t, "redis-server")
		out := n.onFullDisk(80, `( DATA_DIR="$disk/data" `+n.bin+` serve --demo & echo $! > "$disk/pid"; wait ) 2>&1 | while read -r line; do
	echo "$line"
	case $line in
	*"no space is left there"*) rm "$disk/fill" ;;
	*"Ctrl-C stops it"*) kill "$(cat "$disk/pid")" ;;
	esac
done`)
		if !strings.Contains(out, "node unfit: not taking jobs") || !strings.Contains(out, "Ctrl-C stops it") {
			t.Errorf("it does not say that the disk is full, or does not go on when there is room: %s", out)
		}
	})
}
