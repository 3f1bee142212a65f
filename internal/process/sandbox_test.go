package process_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/process"
)

func TestMain(m *testing.M) {
	process.RunHelper(os.Args)
	os.Exit(m.Run())
}

// sandboxed runs programs in a sandbox that hides a directory and a home.
type sandboxed struct {
	process.Sandbox
	dir, hidden, home string
}

func newSandbox(t testing.TB) sandboxed {
	t.Helper()
	s := sandboxed{dir: t.TempDir(), hidden: t.TempDir(), home: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(s.hidden, "secret"), filepath.Join(s.home, ".netrc"), filepath.Join(s.home, ".cargo", "bin", "tool"), filepath.Join(s.home, "tools", "own"), filepath.Join(s.home, ".cargo", "credentials.toml")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Sandbox, err = process.FindSandbox(t.Context(), process.SandboxOptions{Helper: self, Home: s.home, Hidden: []string{s.hidden}, Path: s.home + ":" + filepath.Join(s.home, "tools"), Readable: []string{self}})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return s
}

func (s sandboxed) command(script string) process.Command {
	return process.Command{
		Args: []string{"sh", "-c", script}, Dir: s.dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=/nowhere"},
		Sandbox: s.Sandbox, Room: process.Room{Writable: []string{s.dir}},
	}
}

func TestWhatASandboxShows(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	inner := filepath.Join(s.hidden, "job")
	for name, c := range map[string]struct {
		script string
		change func(*process.Room)
		out    string
	}{
		"its own directory":        {"echo x > f && cat f", nil, "x\n"},
		"not what is hidden":       {"ls -A " + s.hidden, nil, ""},
		"what lies in there":       {"ls -A " + s.hidden + "; echo y > " + inner + "/f; cat " + inner + "/f", func(r *process.Room) { r.Writable = append(r.Writable, inner) }, "job\ny\n"},
		"what is to be read alone": {"echo y > " + inner + "/g; ls " + inner, func(r *process.Room) { r.Readable = append(r.Readable, inner) }, "f\n"},
		"no hidden part of what it may read": {
			"cat " + s.hidden + "/secret", func(r *process.Room) { r.Readable = append(r.Readable, filepath.Dir(s.hidden)) }, "",
		},
		"a home with programs alone": {"cd $HOME && find . -type f | sort", nil, "./.cargo/bin/tool\n./tools/own\n"},
		"a temporary directory":      {"mktemp -d | cut -c -5; ls /tmp /var/tmp | grep -v -e '^$' -e ':$' -e '^Test' -e '^go-build' -e '^tmp'", nil, "/tmp/\n"},
		"its own processes":          {"ls -d /proc/[0-9]* | wc -l | tr -d ' ' | grep -x '[1-6]' >/dev/null && echo few", nil, "few\n"},
		"nothing to write on":        {"touch /x /etc/x /usr/x /run/x 2>/dev/null; ls /x /etc/x /usr/x 2>/dev/null", nil, ""},
		"no rights":                  {"grep CapEff /proc/self/status | tr -d '\\t'; grep NoNewPrivs /proc/self/status | tr -d '\\t'", nil, "CapEff:0000000000000000\nNoNewPrivs:1\n"},
		"an end with a code":         {"exit 7", nil, ""},
	} {
		if err := os.MkdirAll(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		command := s.command(c.script)
		if c.change != nil {
			c.change(&command.Room)
		}
		if err := os.WriteFile(filepath.Join(inner, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ended, err := process.Run(t.Context(), command)
		if err != nil || ended.Stdout != c.out || name == "an end with a code" && ended.Code != 7 {
			t.Errorf("%s: got %+v, %v, want %q", name, ended, err, c.out)
		}
	}
}

// What package managers fetch is there for the next program of the job, and leads
// nowhere else, whatever a job makes of it.
func TestCachesAreKeptForTheJob(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	caches, outside := t.TempDir(), t.TempDir()
	for i, script := range []string{"echo kept > $HOME/.cache/f; echo lost > $HOME/f; rm -rf $HOME/.cargo; ln -s " + outside + " $HOME/.cache/out", "cat $HOME/.cache/f; ls $HOME/f $HOME/.cache/out/x"} {
		c := s.command(script)
		c.Room.Caches = caches
		ended, err := process.Run(t.Context(), c)
		if err != nil || i == 1 && ended.Stdout != "kept\n" {
			t.Errorf("got %+v, %v", ended, err)
		}
	}
}

// TestAHomeThatIsNotThere is that of accounts of services.
func TestAHomeThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.Sandbox, err = process.FindSandbox(t.Context(), process.SandboxOptions{Helper: self, Home: "/nonexistent", Readable: []string{self}})
	if err != nil {
		t.Fatal(err)
	}
	c := s.command("echo works")
	c.Room.Caches = t.TempDir()
	if ended, err := process.Run(t.Context(), c); err != nil || ended.Stdout != "works\n" {
		t.Errorf("got %+v, %v", ended, err)
	}
}

func TestNetworkOfASandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.0 200 OK\r\n\r\nhello"))
			_ = conn.Close()
		}
	}()
	for none, want := range map[bool]string{false: "hello", true: ""} {
		c := s.command("curl -s -m 5 http://" + l.Addr().String())
		c.Room.NoNetwork = none
		if ended, err := process.Run(t.Context(), c); err != nil || ended.Stdout != want {
			t.Errorf("without a network %t: got %+v, %v, want %q", none, ended, err, want)
		}
	}
}

// A program in a sandbox is told to end before it is ended, as any other.
func TestSandboxedProgramsAreToldToEnd(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := s.command(`trap "echo told > told; exit 0" TERM; echo ready; while :; do sleep 0.01; done`)
	c.Line = func(string) { cancel() }
	if _, err := process.Run(ctx, c); err == nil {
		t.Error("it ended by itself")
	}
	if _, err := os.Stat(filepath.Join(s.dir, "told")); err != nil {
		t.Error("it was not told to end")
	}
}

// Whichever process of a sandbox is killed from outside, nothing of it is left.
func TestASandboxEndsAsAWhole(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(keeper int) int{
		"the process that we know": func(keeper int) int { return keeper },
		"bubblewrap":               child,
		"the first in there":       func(keeper int) int { return child(child(keeper)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			length := strconv.Itoa(200000 + os.Getpid())
			ready := make(chan struct{})
			c := s.command("setsid env -i sleep " + length + ".1 & sleep " + length + ".2 & echo ready; wait")
			c.Marker = "sandbox-" + t.Name()
			c.Line = func(string) { close(ready) }
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = process.Run(t.Context(), c)
			}()
			<-ready
			keepers := process.Marked(func(m string) bool { return m == c.Marker })
			if len(keepers) < 3 {
				t.Fatalf("%d processes", len(keepers))
			}
			keeper := keepers[0]
			for _, pid := range keepers {
				if child(pid) != 0 && parent(pid) == os.Getpid() {
					keeper = pid
				}
			}
			if err := syscall.Kill(victim(keeper), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-done
			for deadline := time.Now().Add(10 * time.Second); running(s.dir); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("something is left")
				}
			}
		})
	}
}

// child is a child of a process, 0 for none.
func child(pid int) int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			n, _ := strconv.Atoi(fields[0])
			return n
		}
	}
	return 0
}

func parent(pid int) int {
	out, _ := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return n
}

// running reports whether a process works in a directory.
func running(dir string) bool {
	places, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, place := range places {
		if at, err := os.Readlink(place); err == nil && at == dir {
			return true
		}
	}
	return false
}

func TestAProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	c := s.command("")
	c.Args = []string{"no-such-program"}
	if _, err := process.Run(t.Context(), c); err == nil {
		t.Error("it was started")
	}
}

// What a sandbox adds to a start.
func BenchmarkStart(b *testing.B) {
	s := newSandbox(b)
	for name, sandbox := range map[string]process.Sandbox{"plain": {}, "sandbox": s.Sandbox} {
		b.Run(name, func(b *testing.B) {
			c := s.command("true")
			c.Sandbox = sandbox
			for b.Loop() {
				if _, err := process.Run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What others mount below /run is nothing of a sandbox: where it went away while one
// starts, that would fail.
func TestMountsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	place, err := os.MkdirTemp("/run", "ringback-test") //nolint:usetesting // below /run is what matters
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(place)
	if err := syscall.Mount("none", place, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Unmount(place, syscall.MNT_DETACH) }()
	out, err := process.Run(t.Context(), s.command("cat /proc/self/mountinfo"))
	if err != nil || out.Code != 0 || strings.Contains(string(out.Stdout), place) {
		t.Errorf("%v, %d: the mounts are\n%s%s", err, out.Code, out.Stdout, out.Stderr)
	}
}

// The top of the file system can be read as it is, and not be written.
func TestTheTopOfASandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	out, err := process.Run(t.Context(), s.command("ls -a / | sort | tr '\n' ' '; touch /new 2>/dev/null && echo written; touch /usr/new 2>/dev/null && echo written; test -x /bin/sh"))
	if err != nil || out.Code != 0 || strings.Contains(string(out.Stdout), "written") {
		t.Fatalf("%v, %d: %s%s", err, out.Code, out.Stdout, out.Stderr)
	}
	entries, _ := os.ReadDir("/")
	for _, entry := range entries {
		if !strings.Contains(string(out.Stdout), entry.Name()) {
			t.Errorf("there is no /%s", entry.Name())
		}
	}
}
