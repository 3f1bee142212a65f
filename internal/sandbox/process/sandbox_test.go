package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/test/harness"
	"ringback/test/must"
)

// sandboxed runs programs in a sandbox that hides a directory and a home.
type sandboxed struct {
	process.Sandbox
	dir, hidden, home string
}

func newSandbox(t testing.TB) sandboxed {
	t.Helper()
	s := sandboxed{dir: t.TempDir(), hidden: t.TempDir(), home: t.TempDir()}
	for _, file := range []string{filepath.Join(s.hidden, "secret"), filepath.Join(s.home, ".netrc"), filepath.Join(s.home, ".cargo", "bin", "tool"), filepath.Join(s.home, "tools", "own"), filepath.Join(s.home, ".cargo", "credentials.toml")} {
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if err := os.WriteFile(file, []byte("secret"), 0o644); err != nil { // if the test runs as root, jobs have another user
			t.Fatal(err)
		}
	}
	var err error
	s.Sandbox, err = process.FindSandbox(t.Context(), process.SandboxOptions{Home: s.home, Hidden: []string{s.hidden}, Path: s.home + ":" + filepath.Join(s.home, "tools")})
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
		Sandbox: s.Sandbox, Access: process.Access{Writable: []string{s.dir}},
	}
}

func TestWhatASandboxShows(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	inner := filepath.Join(s.hidden, "job")
	limits := slices.DeleteFunc([]string{"/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}, func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	})
	for name, c := range map[string]struct {
		script string
		change func(*process.Access)
		out    string
	}{
		"its own directory":        {"echo x > f && cat f", nil, "x\n"},
		"not what is hidden":       {"ls -A " + s.hidden, nil, ""},
		"what lies in there":       {"ls -A " + s.hidden + "; echo y > " + inner + "/f; cat " + inner + "/f", func(r *process.Access) { r.Writable = append(r.Writable, inner) }, "job\ny\n"},
		"what is to be read alone": {"echo y > " + inner + "/g; ls " + inner, func(r *process.Access) { r.Readable = append(r.Readable, inner) }, "f\n"},
		"no hidden part of what it may read": {
			"cat " + s.hidden + "/secret", func(r *process.Access) { r.Readable = append(r.Readable, filepath.Dir(s.hidden)) }, "",
		},
		"a home with programs alone": {"cd $HOME && find . -type f | sort", nil, "./.cargo/bin/tool\n./tools/own\n"},
		"a temporary directory":      {"mktemp -d | cut -c -5; ls /tmp /var/tmp | grep -v -e '^$' -e ':$' -e '^Test' -e '^go-build' -e '^tmp'", nil, "/tmp/\n"},
		"its own processes":          {"ls -d /proc/[0-9]* | wc -l | tr -d ' ' | grep -x '[1-6]' >/dev/null && echo few", nil, "few\n"},
		"nothing to write on":        {"touch /x /etc/x /usr/x /run/x 2>/dev/null; ls /x /etc/x /usr/x 2>/dev/null", nil, ""},
		"no rights":                  {"grep CapEff /proc/self/status | tr -d '\\t'; grep NoNewPrivs /proc/self/status | tr -d '\\t'", nil, "CapEff:0000000000000000\nNoNewPrivs:1\n"},
		"no descriptors of ours":     {"for fd in 3 4 5 6 7 8; do [ ! -e /proc/self/fd/$fd ] || echo $fd; done", nil, ""},
		"how many processors it has": {"[ -s /sys/devices/system/cpu/online ] && ls /sys /sys/fs | paste -sd' '", nil, "/sys: devices fs  /sys/fs: cgroup\n"},
		"its limits":                 {"ls -d / " + strings.Join(limits, " "), nil, strings.Join(append([]string{"/"}, limits...), "\n") + "\n"},
		"what is shown, only once":   {"grep -c ' /usr/bin ' /proc/self/mountinfo", func(r *process.Access) { r.Readable = append(r.Readable, "/usr/bin") }, "0\n"},
		"an empty network":           {"curl -s http://127.0.0.1:1/; echo $?", nil, "7\n"},
		"an end with a code":         {"exit 7", nil, ""},
	} {
		must.OK(t, os.MkdirAll(inner, 0o700))
		command := s.command(c.script)
		if c.change != nil {
			c.change(&command.Access)
		}
		must.OK(t, os.WriteFile(filepath.Join(inner, "f"), nil, 0o600))
		ended, err := process.Run(t.Context(), command)
		if err != nil || ended.Stdout != c.out || name == "an end with a code" && ended.Code != 7 {
			t.Errorf("%s: got %+v, %v, want %q", name, ended, err, c.out)
		}
	}
}

// What is hidden stays hidden if it is replaced while a program runs, as editors and rotations of
// keys do it.
func TestWhatIsHiddenIsNotShownByARename(t *testing.T) {
	t.Parallel()
	base := must.Get(os.MkdirTemp("/var/lib", "ringback-test"))(t) //nolint:usetesting // a sandbox shows it
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	must.OK(t, os.Chmod(base, 0o755))
	tree(t, base, "app/.env", "app/.env~", "app/plain", "app/sub/tool", "keys/now/keys", "keys/later/keys", "keys/keys -> data/keys", "keys/data -> now", "other/a.key", "other/plain")
	must.OK(t, filepath.WalkDir(base, func(file string, d os.DirEntry, err error) error {
		if err == nil && d.Type()&os.ModeSymlink == 0 {
			err = os.Chmod(file, 0o755) // if the test runs as root, jobs have another user
		}
		return err
	}))
	s := newSandbox(t)
	var err error
	s.Sandbox, err = process.FindSandbox(t.Context(), process.SandboxOptions{Home: s.home, Secrets: []string{base + "/app/.env", base + "/keys/keys"}, Readable: []string{base + "/app/plain"}})
	must.OK(t, err)
	for name, change := range map[string]func(*process.Access){
		"a program":                   nil,
		"one that may read all of it": func(a *process.Access) { a.Readable = []string{base, base + "/app", base + "/keys"} },
		"one that works below it":     func(a *process.Access) { a.Writable = append(a.Writable, base+"/app/sub") },
		"one whose file is in there":  func(a *process.Access) { a.Readable = []string{base + "/app/plain", base + "/app/.env"} },
		"one that runs as the server": func(a *process.Access) { a.AsServer = true },
		"one that must not read a key": func(a *process.Access) {
			a.Masks = masksFor(t, s.dir, forbids{unreadable: []string{".key"}}, base+"/other")
		},
	} {
		c := s.command("echo > begun; until [ -e go ]; do sleep 0.01; done; cat " + base + "/app/plain " + base + "/app/sub/tool; cd " + base + "; cat app/.env app/.env~ keys/keys keys/*/keys keys/data/keys; ls -A app; [ -z '" + name + "' ] || cat other/*")
		c.Dir = t.TempDir()
		must.OK(t, os.Chmod(c.Dir, 0o777))
		c.Access.Writable = []string{c.Dir}
		if change != nil {
			change(&c.Access)
		}
		ended := make(chan string, 1)
		go func() {
			e, err := process.Run(t.Context(), c)
			ended <- fmt.Sprint(e.Stdout, err)
		}()
		must.Eventually(t, "the program", func() bool { _, err := os.Stat(filepath.Join(c.Dir, "begun")); return err == nil })
		for _, file := range []string{"app/.env", "keys/now/keys", "keys/later/keys", "other/a.key"} {
			must.OK(t, os.WriteFile(filepath.Join(base, file+".new"), []byte("renamed"), 0o644))
			must.OK(t, os.Rename(filepath.Join(base, file+".new"), filepath.Join(base, file)))
		}
		must.OK(t, os.Symlink("later", filepath.Join(base, "keys", "data.new")))
		must.OK(t, os.Rename(filepath.Join(base, "keys", "data.new"), filepath.Join(base, "keys", "data")))
		must.OK(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o644))
		want := "secret of app/plainsecret of app/sub/toolplain\nsub\n"
		if c.Access.Masks.Unreadable == nil {
			want += "renamed"
		}
		must.Equal(t, want+"secret of other/plain<nil>", <-ended, name)
	}
	for place, what := range map[string]string{base + "/app": "a directory with secrets", base: "one above it"} {
		c := s.command("true")
		c.Access.Lent = []string{place}
		if _, err := process.Run(t.Context(), c); !errors.Is(err, process.ErrExposed) {
			t.Errorf("a program may write %s: %v", what, err)
		}
	}
	for _, file := range []string{"/etc/ringback.env", "/usr/bin/keys", base + "/up"} {
		_ = os.Symlink("/etc/hostname", base+"/up")
		if _, err := process.FindSandbox(t.Context(), process.SandboxOptions{Secrets: []string{file}}); !errors.Is(err, process.ErrExposed) {
			t.Errorf("%s is hidden: %v", file, err)
		}
	}
}

// A secret that appears while a program runs, or whose directories are replaced, is seen neither by that
// program nor by a later one. What was there before is.
func TestWhatIsHiddenIsAPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		awaited   bool
		script    string
		elsewhere bool // a copy is left where a later program sees it
	}{
		"a secret appears":           {true, "cp spare top/app/.env", false},
		"by a rename":                {true, "cp spare top/app/new; mv top/app/new top/app/.env", false},
		"by a link":                  {true, "ln -s ../../spare top/app/.env; cp spare top/app/.env~", false},
		"a copy of it appears first": {true, "cp spare top/app/.env~", false},
		"with a copy of it":          {true, "cp spare top/app/.env~; cp spare top/app/.env", false},
		"as a file of another name that was written":  {true, "cp spare top/app/later; ln top/app/later top/app/.env", false},
		"in a directory that replaces a directory":    {true, "mv top/app top/old; mkdir top/app; cp spare top/app/.env", false},
		"its directory is replaced":                   {false, "cp -r top/app fresh; mv top/app top/old; mv fresh top/app", false},
		"its directory is exchanged for a prepared":   {false, "mv top/app top/old; mv top/prepared top/app", false},
		"its directory is moved":                      {false, "mv top/app moved", true},
		"the directory above is replaced":             {false, "rm -r top/prepared; cp -r top fresh; mv top old; mv fresh top", false},
		"the directory above is removed":              {false, "cp -r top fresh; rm -r top; mv fresh top", false},
		"its directory becomes a link":                {false, "mv top/app top/old; ln -s old top/app", false},
		"the directory above becomes a link to it":    {false, "mv top old; ln -s old top", false},
		"its directory is missing when it starts":     {true, "mkdir top/gone; cp spare top/gone/.env", false},
		"it is removed, and is there again":           {false, "rm top/app/.env; cp spare top/app/.env", false},
		"a directory between appears a second time":   {false, "mv top/app top/app2; mkdir top/app; mv top/app2 top/app/app2", true},
		"a file system is mounted over the directory": {false, "cp -r top/app fresh; mount --bind fresh top/app || true", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := must.Get(os.MkdirTemp("/var/lib", "ringback-test"))(t) //nolint:usetesting // a sandbox shows it
			must.OK(t, os.Chmod(place, 0o755))
			// The path below it is unique, too: otherwise the sandboxes of the other cases took this case's
			// directories for versions of theirs, and looked into them while they change.
			base := filepath.Join(place, filepath.Base(place))
			must.OK(t, os.Mkdir(base, 0o700))
			t.Cleanup(func() {
				_ = exec.Command("umount", "-l", base+"/top/app").Run() // the test has ended
				_ = os.RemoveAll(place)
			})
			tree(t, base, "top/app/plain", "top/app/sub/tool", "top/prepared/.env", "top/prepared/plain")
			if !c.awaited {
				tree(t, base, "top/app/.env")
			}
			change := func(script string) {
				cmd := exec.CommandContext(t.Context(), "sh", "-ec", script+"\nchmod -R a+rX .")
				cmd.Dir = base
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			change("true")
			s, options := newSandbox(t), process.SandboxOptions{Secrets: []string{base + "/top/app/.env"}}
			if c.awaited {
				options = process.SandboxOptions{Awaited: base + "/top/app/.env"}
			}
			if strings.Contains(c.script, "gone") {
				options.Secrets = []string{base + "/top/gone/.env"}
			}
			s.Sandbox = must.Get(process.FindSandbox(t.Context(), options))(t)
			command := s.command("cat top/app/sub/tool top/app/plain 2>/dev/null; echo > $OLDPWD/begun; until [ -e $OLDPWD/go ]; do sleep 0.01; done; find . -name '*.env*' -type f -o -name later -o -name new | xargs cat 2>/dev/null; cat top/app/.env 2>/dev/null; true")
			command.Args[2] = "cd " + base + "; " + command.Args[2]
			must.OK(t, os.Chmod(s.dir, 0o777))
			var ended process.Ended
			running := make(chan error, 1)
			go func() {
				var err error
				ended, err = process.Run(t.Context(), command)
				running <- err
			}()
			must.Eventually(t, "the program", func() bool { _, err := os.Stat(filepath.Join(s.dir, "begun")); return err == nil })
			must.OK(t, os.WriteFile(base+".spare", []byte("secret of .env"), 0o644))
			t.Cleanup(func() { _ = os.Remove(base + ".spare") })
			change(strings.ReplaceAll(c.script, "spare ", base+".spare "))
			must.OK(t, os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644))
			must.OK(t, <-running)
			must.Equal(t, "secret of top/app/sub/tool", ended.Stdout, "a program that ran")
			ended = must.Get(process.Run(t.Context(), command))(t)
			must.Equal(t, c.elsewhere, strings.Contains(ended.Stdout, ".env"), "a later program sees a secret")
		})
	}
}

// Files that a program writes next to a shown file are in the job's directory afterwards, and
// the program can read the server's files there.
func TestWhatIsWrittenBesideWhatIsShown(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	inner := filepath.Join(s.hidden, "job")
	must.OK(t, os.Mkdir(inner, 0o700))
	settings := filepath.Join(inner, "settings")
	must.OK(t, os.WriteFile(settings, []byte("ours"), 0o600))
	c := s.command("cat " + settings + "; echo theirs 2>/dev/null > " + settings + "; echo kept > " + inner + "/kept")
	c.Access = process.Access{Writable: []string{s.dir, inner}, Shown: map[string]string{settings: settings}}
	ended, err := process.Run(t.Context(), c)
	if err != nil || ended.Stdout != "ours" {
		t.Errorf("got %+v, %v", ended, err)
	}
	for name, want := range map[string]string{"settings": "ours", "kept": "kept\n"} {
		if text, err := os.ReadFile(filepath.Join(inner, name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v, want %q", name, text, err, want)
		}
	}
}

// Temporary directories and texts disappear with the sandbox. A program can change only writable texts,
// and cannot replace the others.
func TestWhatIsInMemory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	kept := filepath.Join(s.hidden, "kept")
	must.OK(t, os.Mkdir(kept, 0o700))
	c := s.command(`cd /run/own && cat fixed draft above && echo more >> draft && mv draft other && cat other && echo x > lost && echo x > kept/x
		for file in fixed /run/above; do for attack in "eval echo theirs >" "rm -f" "eval mv /run/own/lost"; do $attack $file 2>/dev/null && echo $attack $file; done; done
		mv /run/own /run/away 2>/dev/null && echo moved; cat fixed above`)
	c.Access.Temporary, c.Access.Kept = []string{"/run/own"}, map[string]string{"/run/own/kept": kept}
	c.Access.Texts = []process.Text{
		{Path: "/run/own/fixed", Content: "fixed\n"},
		{Path: "/run/own/draft", Content: "draft\n", Writable: true},
		{Path: "/run/own/above", Content: "above\n"},
		{Path: "/run/above"},
	}
	for range 2 {
		ended, err := process.Run(t.Context(), c)
		if want := "fixed\ndraft\nabove\ndraft\nmore\nfixed\nabove\n"; err != nil || ended.Stdout != want {
			t.Errorf("got %+v, %v, want %q", ended, err, want)
		}
	}
	entries := must.Get(os.ReadDir(s.hidden))(t)
	must.Equal(t, 2, len(entries), entries)
	must.Equal(t, "x\n", string(must.Get(os.ReadFile(filepath.Join(kept, "x")))(t)))
}

// A directory that is kept is at its path in the sandbox, even if the machine has a link there.
func TestWhatTheMachineHasAtAKeptPlaceDoesNotMatter(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	kept, place, elsewhere := t.TempDir(), filepath.Join(s.hidden, "place"), t.TempDir()
	must.OK(t, os.Symlink(elsewhere, place))
	c := s.command("echo kept > " + place + "/file")
	c.Access.Kept = map[string]string{place: kept}
	if ended, err := process.Run(t.Context(), c); err != nil || ended.Code != 0 {
		t.Errorf("got %+v, %v", ended, err)
	}
	must.Equal(t, "kept\n", string(must.Get(os.ReadFile(filepath.Join(kept, "file")))(t)))
	must.Equal(t, 0, len(must.Get(os.ReadDir(elsewhere))(t)))
}

// Downloads of package managers are available to the next program of the job, and lead
// nowhere else, whatever a job puts in their place.
func TestCachesAreKeptForTheJob(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	caches, outside := t.TempDir(), t.TempDir()
	for i, script := range []string{"echo kept > $HOME/.cache/f; echo lost > $HOME/f; rm -rf $HOME/.cargo; ln -s " + outside + " $HOME/.cache/out", "cat $HOME/.cache/f; ls $HOME/f $HOME/.cache/out/x"} {
		c := s.command(script)
		c.Access.Caches = caches
		ended, err := process.Run(t.Context(), c)
		if err != nil || i == 1 && ended.Stdout != "kept\n" {
			t.Errorf("got %+v, %v", ended, err)
		}
	}
}

// TestAHomeThatIsNotThere uses a missing home, as service accounts have.
func TestAHomeThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	var err error
	s.Sandbox, err = process.FindSandbox(t.Context(), process.SandboxOptions{Home: "/nonexistent"})
	must.OK(t, err)
	c := s.command("echo works")
	c.Access.Caches = t.TempDir()
	if ended, err := process.Run(t.Context(), c); err != nil || ended.Stdout != "works\n" {
		t.Errorf("got %+v, %v", ended, err)
	}
}

// answering returns a door that answers each connection with a text.
func answering(port uint16, text string) process.Door {
	return process.Door{Port: port, Serve: func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.0 200 OK\r\n\r\n" + text))
			_ = conn.Close()
		}
	}}
}

// A sandbox reaches only what its doors lead to.
func TestDoorsOfASandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	go answering(0, "outside").Serve(l)
	for script, want := range map[string]string{
		"curl -s http://127.0.0.1:301/":                                         "one",
		"curl -s http://127.0.0.1:302/; echo $HELLO":                            "two",
		"curl -s http://127.0.0.1:303/":                                         "",
		"curl -s -m 5 http://" + l.Addr().String():                              "",
		"tail -n +3 /proc/net/dev | cut -d: -f1":                                "    lo",
		"cat /proc/net/unix | wc -l; [ ! -e /proc/self/fd/4 ] || echo the gate": "1",
		"python3 -c 'import socket; socket.create_server((\"127.0.0.1\", 99))' 2>&1 | grep -o 'Permission denied'": "Permission denied",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			c := s.command(script)
			c.Access.Network = process.Network{Doors: []process.Door{answering(301, "one"), answering(302, "two")}, Env: []string{"HELLO="}}
			if ended, err := process.Run(t.Context(), c); err != nil || strings.TrimRight(ended.Stdout, "\n") != want {
				t.Errorf("got %+v, %v, want %q", ended, err, want)
			}
		})
	}
}

// While no server runs, a call waits for the next server, however often servers change.
func TestACallWaitsForTheNextServer(t *testing.T) {
	t.Parallel()
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && string(scope) != "0\n" && os.Geteuid() != 0 {
		t.Skip("Yama keeps the next server from fetching the doors")
	}
	s := newSandbox(t)
	d := s.detached(t, `for n in 1 2; do
	until [ -e dead$n ]; do sleep 0.01; done
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/301 && echo > connected'$n' && cat <&3 > said'$n
	echo > over$n
done
sleep 60`)
	died := make(chan struct{}, 1)
	d.Access.Network.Doors = []process.Door{{Port: 301, Serve: func(l net.Listener) {
		_ = l.Close()
		died <- struct{}{}
	}}}
	start(t, d)
	answering := process.Door{Port: 301, Serve: func(l net.Listener) {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write([]byte("again"))
			_ = conn.Close()
		}
		_ = l.Close()
		died <- struct{}{}
	}}
	for _, n := range []string{"1", "2"} {
		<-died
		must.OK(t, os.WriteFile(filepath.Join(s.dir, "dead"+n), nil, 0o644))
		read(t, filepath.Join(s.dir, "connected"+n))
		if adopted, err := process.Adopt(d.Files, d.Marker, answering); err != nil || adopted == nil {
			t.Fatalf("adopting gave %v, %v", adopted, err)
		}
		read(t, filepath.Join(s.dir, "over"+n))
		said, _ := os.ReadFile(filepath.Join(s.dir, "said"+n))
		must.Equal(t, "again", string(said), "server", n, "said")
	}
}

// A server opens the doors that an earlier one has not opened, and closes those that it does not know.
func TestDoorsOfAnAdoptedProgram(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	d := s.detached(t, `until [ -e go ]; do sleep 0.01; done
echo $(curl -s http://127.0.0.1:302/; curl -s http://127.0.0.1:301/; echo " $?"; readlink /proc/[0-9]*/fd/* | grep socket); sleep 60`)
	died := make(chan struct{})
	d.Access.Network.Doors = []process.Door{{Port: 301, Serve: func(l net.Listener) {
		defer close(died)
		_ = l.Close()
	}}}
	start(t, d)
	<-died // its server
	adopted, err := process.Adopt(d.Files, d.Marker, answering(302, "another"))
	if err != nil || adopted == nil {
		t.Fatalf("adopting gave %v, %v", adopted, err)
	}
	must.OK(t, os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600))
	must.Equal(t, "another 7\n", read(t, d.Files.Stdout), "its doors, or a process in there has a socket")
}

// A program in a sandbox gets SIGTERM before SIGKILL, like any other.
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

// Whichever process of a sandbox is killed from outside, nothing of the sandbox remains.
func TestASandboxEndsAsAWhole(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(bwrap int) int{
		"bubblewrap":         func(bwrap int) int { return bwrap },
		"the first in there": child,
		"the program":        func(bwrap int) int { return child(child(bwrap)) },
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
			marked := process.Marked(func(m string) bool { return m == c.Marker })
			i := slices.IndexFunc(marked, func(pid int) bool { return parent(pid) == os.Getpid() })
			if i < 0 || len(marked) < 3 {
				t.Fatalf("found %v", marked)
			}
			must.OK(t, syscall.Kill(victim(marked[i]), syscall.SIGKILL))
			<-done
			awaitNothing(t, s.dir)
		})
	}
}

// awaitNothing waits until no process works in a directory.
func awaitNothing(t *testing.T, dir string) {
	t.Helper()
	must.Eventually(t, "the processes to end", func() bool {
		places, _ := filepath.Glob("/proc/[0-9]*/cwd")
		return !slices.ContainsFunc(places, func(place string) bool {
			at, err := os.Readlink(place)
			return err == nil && at == dir
		})
	})
}

// detached returns a script in a sandbox that outlives its server.
func (s sandboxed) detached(t *testing.T, script string) process.Detached {
	t.Helper()
	d := detached(t, script)
	d.Dir, d.Sandbox, d.Access = s.dir, s.Sandbox, process.Access{Writable: []string{s.dir}}
	return d
}

// Processes that a program leaves in its sandbox end with it, even while no server runs,
// and the shell around the program is visible neither from inside nor from outside.
func TestADetachedSandboxEndsWithItsProgram(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	d := s.detached(t, `setsid env -i sleep 1000 & readlink /proc/$$/fd/3 || echo nothing; kill -SEGV $$`)
	d.Stdin = "asked"
	p := start(t, d)
	must.Equal(t, process.Exit{Known: true, Code: 128 + int(syscall.SIGSEGV)}, p.Exit())
	must.Equal(t, true, p.EndedWhole(), "nothing can be left of it")
	must.Equal(t, "nothing\n", read(t, d.Files.Stdout), "the program has what bubblewrap or the shell has opened")
	if text, err := os.ReadFile(d.Files.Stderr); err != nil || len(text) > 0 {
		t.Errorf("got %q, %v", text, err)
	}
	awaitNothing(t, s.dir)
}

// A sandbox that is ended before its program has begun is not waited for.
func TestADetachedSandboxEndsBeforeItsProgramBegins(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	p := start(t, s.detached(t, "sleep 1000"))
	begun := time.Now()
	p.Terminate(time.Minute)
	must.Equal(t, true, time.Since(begun) < 30*time.Second, "it ended at once")
}

func TestADetachedSandboxIsToldToEnd(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"started": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			d := s.detached(t, `trap "echo told > told; exit 7" TERM; echo ready; while :; do sleep 0.01; done`)
			p := start(t, d)
			read(t, d.Files.Stdout)
			if again {
				var err error
				if p, err = process.Adopt(d.Files, d.Marker); err != nil || p == nil {
					t.Fatalf("got %v, %v", p, err)
				}
			}
			p.Terminate(20 * time.Second)
			if _, err := os.Stat(filepath.Join(s.dir, "told")); err != nil {
				t.Error("it was not told to end")
			}
			if exit := p.Exit(); !again && exit.Code != 7 {
				t.Errorf("it ended with %+v", exit)
			}
			awaitNothing(t, s.dir)
		})
	}
}

// If bubblewrap is killed while no server runs, the next one ends the rest of the sandbox.
func TestASandboxWithoutItsBubblewrapIsNotAdopted(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	d := s.detached(t, `echo ready; exec env -i sleep 1000`)
	p := start(t, d)
	read(t, d.Files.Stdout)
	record := must.Get(os.ReadFile(d.Files.Record))(t)
	// This process notices the end of its own child, so the test uses the record of another
	// start.
	left := s.detached(t, `exec sleep 1000`)
	left.Marker = d.Marker
	other := start(t, left)
	otherRecord := must.Get(os.ReadFile(other.Files.Record))(t)
	_, leader, _ := strings.Cut(string(otherRecord), `"leader":`)
	mine, _, _ := strings.Cut(string(record), `"leader":`)
	mine = strings.Replace(mine, strconv.Itoa(p.PID), "2147483647", 1)
	must.OK(t, os.WriteFile(d.Files.Record, []byte(mine+`"leader":`+leader), 0o600))
	if adopted, err := process.Adopt(d.Files, d.Marker); adopted != nil || err != nil {
		t.Errorf("got %v, %v", adopted, err)
	}
	select {
	case <-other.Done():
	case <-time.After(20 * time.Second):
		t.Error("what was left was not ended")
	}
}

// child returns a child of a process, 0 for none.
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

func TestAProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for name, c := range map[string]process.Command{"in a sandbox": s.command(""), "with limits": {Dir: s.dir, Limits: limits}, "with nothing": {Dir: s.dir}} {
		c.Args = []string{"no-such-program"}
		if _, err := process.Run(t.Context(), c); err == nil {
			t.Errorf("%s, it was started", name)
		}
	}
}

// Many programs are installed as a link to a version, which may be in a home.
func TestAProgramBehindALinkInTheHome(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	must.OK(t, os.Symlink(filepath.Join(s.home, "tools"), filepath.Join(s.home, "current")))
	must.OK(t, os.WriteFile(filepath.Join(s.home, "tools", "own"), []byte("#!/bin/sh\necho ran\n"), 0o755))
	must.OK(t, os.Chmod(filepath.Join(s.home, "tools", "own"), 0o755))
	c := s.command("")
	c.Args = []string{filepath.Join(s.home, "current", "own")}
	ended, err := process.Run(t.Context(), c)
	if err != nil || ended.Stdout != "ran\n" {
		t.Errorf("it ended as %+v, and the error is %v", ended, err)
	}
}

// BenchmarkStart measures the overhead of a sandbox at the start of a program.
func BenchmarkStart(b *testing.B) {
	s := newSandbox(b)
	for name, sandbox := range map[string]process.Sandbox{"plain": {}, "sandbox": s.Sandbox} {
		b.Run(name, func(b *testing.B) {
			c := s.command("true")
			c.Sandbox = sandbox
			for b.Loop() {
				must.Get(process.Run(b.Context(), c))(b)
			}
		})
	}
}

// Mounts of other programs below /run are not part of a sandbox: a start would fail if
// one disappeared at that moment.
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

// A file system that is mounted on the machine while a program runs does not appear in its
// sandbox, where it could be written.
func TestWhatIsMountedLaterIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	place := must.Get(os.MkdirTemp("/var/lib", "ringback-test"))(t) //nolint:usetesting // a sandbox shows it
	t.Cleanup(func() {
		_ = syscall.Unmount(place+"/later", syscall.MNT_DETACH)
		_ = syscall.Unmount(place, syscall.MNT_DETACH)
		_ = os.Remove(place)
	})
	if err := syscall.Mount("none", place, "tmpfs", 0, "size=64k,mode=755"); err != nil {
		t.Skip(err)
	}
	must.OK(t, syscall.Mount("", place, "", syscall.MS_SHARED, "")) // as systemd makes all mounts of a machine
	must.OK(t, os.Mkdir(place+"/later", 0o755))
	c := s.command("echo > begun; until [ -e go ]; do sleep 0.01; done; echo x > " + place + "/later/f; ls " + place + "/later; grep -c " + place + "/later /proc/self/mountinfo")
	ended := make(chan string, 1)
	go func() {
		e, err := process.Run(t.Context(), c)
		ended <- fmt.Sprint(e.Stdout, err)
	}()
	must.Eventually(t, "the program", func() bool { _, err := os.Stat(filepath.Join(s.dir, "begun")); return err == nil })
	must.OK(t, syscall.Mount("none", place+"/later", "tmpfs", 0, "size=64k,mode=777"))
	must.OK(t, os.WriteFile(place+"/later/secret", nil, 0o644))
	must.OK(t, os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644))
	must.Equal(t, "0\n<nil>", <-ended)
}

// The top-level directories of the file system are readable, and not writable.
func TestTheTopOfASandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	out, err := process.Run(t.Context(), s.command("ls -a / | sort | tr '\n' ' '; touch /new 2>/dev/null && echo written; touch /usr/new 2>/dev/null && echo written; test -x /bin/sh"))
	if err != nil || out.Code != 0 || strings.Contains(string(out.Stdout), "written") {
		t.Fatalf("%v, %d: %s%s", err, out.Code, out.Stdout, out.Stderr)
	}
	entries, _ := os.ReadDir("/")
	for _, entry := range entries {
		if !entry.Type().IsRegular() && !strings.Contains(string(out.Stdout), entry.Name()) {
			t.Errorf("there is no /%s", entry.Name())
		}
	}
}

// limits are the resource limits of the programs in these tests.
var limits = limit.Limits{Memory: 256 * limit.MiB, Processes: 32, FileSize: limit.MiB}

// A program reaches its limits, in a sandbox and without one, and the limit is reported.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for name, c := range map[string]struct {
		script string
		limit  string // part of the report; "" for none
	}{
		"small files":                  {"for i in 1 2 3; do head -c 1000000 /dev/zero > f$i; done", ""},
		"a large file":                 {"head -c 1048577 /dev/zero > f", "1 MiB (file_size"},
		"one that is exactly so large": {"head -c 1048576 /dev/zero > f", ""},
		"a file with a hole":           {"truncate -s 2M f", "1 MiB (file_size"},
		"one that grows bit by bit":    {"for i in 1 2 3; do head -c 500000 /dev/zero >> f; done", "1 MiB"},
		"one behind a pipe":            {"head -c 3000000 /dev/zero | cat > f; exit 3", "1 MiB"},
		"one whose signal is ignored":  {`trap "" XFSZ; head -c 3000000 /dev/zero > f`, "1 MiB"},
		"a shell that is replaced":     {"exec dd if=/dev/zero of=f bs=1M count=2", "1 MiB (file_size"},
		"memory":                       {"dd if=/dev/zero of=/dev/null bs=200M count=1 2>&1", ""},
		"too much memory":              {"dd if=/dev/zero of=/dev/null bs=300M count=1", "256 MiB of memory"},
		"too much for perl":            {`perl -e '$x = "a" x (300 << 20)'`, "256 MiB of memory"},
		"limits that are raised":       {"ulimit -f unlimited; ulimit -d unlimited; head -c 1048577 /dev/zero > f", "1 MiB"},
		"what it is given":             {`test "${0##*/} $*" = "sh " && test -n "$HOME" && cat /proc/self/environ | grep -q RINGBACK_PROCESS=m`, ""},
	} {
		for where, sandbox := range map[string]process.Sandbox{"sandbox": s.Sandbox, "none": {}} {
			t.Run(name+", "+where, func(t *testing.T) {
				t.Parallel()
				command := s.command(c.script)
				command.Dir = t.TempDir()
				command.Access.Writable = []string{command.Dir}
				command.Sandbox, command.Limits, command.Marker = sandbox, limits, "m"
				ended, err := process.Run(t.Context(), command)
				if err != nil || !strings.Contains(ended.Limit, c.limit) || c.limit == "" && ended.Limit != "" || (c.limit != "") != (ended.Code != 0) {
					t.Errorf("got %+v, %v, want %q", ended, err, c.limit)
				}
			})
		}
	}
}

// asOrdinary runs a test of this program as an ordinary user, because the process limit
// does not apply to root.
func asOrdinary(t *testing.T) (again bool) {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	place, err := os.MkdirTemp("", "ordinary-") //nolint:usetesting // the directory above is for root alone
	must.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	self := must.Get(os.ReadFile("/proc/self/exe"))(t)
	program := filepath.Join(place, "process.test")
	harness.WriteProgram(t, program, self)
	must.OK(t, os.Chmod(place, 0o777))
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = place, append(os.Environ(), "TMPDIR="+place, "HOME="+place)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v: %s", err, out)
	}
	return true
}

// A program that keeps starting itself is limited in a sandbox; other processes of its
// user are not counted.
func TestProcessesAreLimited(t *testing.T) {
	t.Parallel()
	if asOrdinary(t) {
		return
	}
	s := newSandbox(t)
	for name, c := range map[string]struct{ script, limit string }{
		"few":       {"for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; wait", ""},
		"many":      {"for i in $(seq 64); do sleep 5 & done; wait", "32 processes"},
		"a bomb":    {`bomb() { bomb | bomb & }; (sleep 0.1; bomb) 2>bombs & sleep 1; ls -d /proc/[0-9]* | wc -l; head -c 300 bombs >&2; exit 1`, "32 processes"},
		"sessions":  {"for i in $(seq 64); do setsid -f sleep 5; done", "32 processes"},
		"namespace": {`unshare -Ur sh -c 'ulimit -u unlimited; for i in $(seq 64); do sleep 5 & done' || { echo Cannot fork >&2; exit 1; }`, "32 processes"},
		"threads":   {"python3 -c 'import threading, time\nfor i in range(64): threading.Thread(target=time.sleep, args=(3,), daemon=True).start()'", "32 processes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			command := s.command(c.script)
			command.Limits = limit.Limits{Processes: 32}
			ended, err := process.Run(ctx, command)
			if err != nil || !strings.Contains(ended.Limit, c.limit) || c.limit == "" && ended.Code != 0 {
				t.Errorf("got %+v, %v, want %q", ended, err, c.limit)
			}
			if n, err := strconv.Atoi(strings.TrimSpace(ended.Stdout)); err == nil && n > 33 { // including ls itself
				t.Errorf("%d processes at once", n)
			}
		})
	}
}

// Without a sandbox, processes are not limited: all of the user's would be counted.
func TestProcessesAreNotLimitedWithoutASandbox(t *testing.T) {
	t.Parallel()
	if asOrdinary(t) {
		return
	}
	ended, err := process.Run(t.Context(), process.Command{
		Args: []string{"sh", "-c", "for i in $(seq 40); do sleep 0.2 & done; wait; echo Cannot fork >&2; exit 1"}, Dir: t.TempDir(), Env: os.Environ(),
		Sandbox: process.Sandbox{}, Limits: limits,
	})
	if err != nil || ended.Code != 1 || ended.Limit != "" || strings.TrimSpace(ended.Stderr) != "Cannot fork" {
		t.Errorf("got %+v, %v", ended, err)
	}
}

// A program of a turn is found again by its marker and its start time, although a shell
// set its limits first.
func TestALimitedProcessIsAdopted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := process.Files{Record: filepath.Join(dir, "record"), Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")}
	p, err := process.Start(t.Context(), process.Detached{
		Args: []string{"sh", "-c", "ulimit -Hf; cat; exec sleep 60"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Marker: "limited/" + dir, Stdin: "asked",
		Sandbox: process.Sandbox{}, Limits: limits, Files: files,
	})
	must.OK(t, err)
	defer p.Terminate(time.Second)
	adopted, err := process.Adopt(files, p.Marker)
	if err != nil || adopted == nil || adopted.PID != p.PID {
		t.Fatalf("got %+v, %v", adopted, err)
	}
	must.Eventually(t, "its output", func() bool {
		text, err := os.ReadFile(files.Stdout)
		return err == nil && string(text) == "2048\nasked"
	})
}

// The server's own limits are neither raised nor an obstacle.
func TestLimitsOfTheServerStay(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"ulimit -f 1001":                    "1001 1001", // the lower one
		"ulimit -Sf 1001; ulimit -Hf 4000":  "1001 2048", // the soft one stays
		"ulimit -Sf 3000; ulimit -Hf 4000":  "2048 2048",
		"ulimit -f unlimited 2>/dev/null;:": "2048 2048",
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			self := must.Get(os.Executable())(t)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", server+`; exec "$0" -test.run '^TestPrintsItsLimits$' -test.v`, self)
			cmd.Env = append(os.Environ(), printLimits+"=1")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "limits: "+want+"\n") {
				t.Errorf("%v, want %q: %s", err, want, out)
			}
		})
	}
}

// printLimits makes TestPrintsItsLimits run a limited program.
const printLimits = "RINGBACK_TEST_LIMITS"

// TestPrintsItsLimits is the server of TestLimitsOfTheServerStay.
func TestPrintsItsLimits(t *testing.T) {
	if os.Getenv(printLimits) == "" {
		t.Skip("it is run by TestLimitsOfTheServerStay")
	}
	ended, err := process.Run(t.Context(), process.Command{
		Args: []string{"sh", "-c", `echo "limits: $(ulimit -Sf) $(ulimit -Hf)"`}, Dir: t.TempDir(), Env: os.Environ(), Limits: limits,
	})
	if err != nil || ended.Code != 0 {
		t.Errorf("%+v, %v", ended, err)
	}
	fmt.Print(ended.Stdout)
}
