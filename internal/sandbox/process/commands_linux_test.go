package process_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

// Processes that a program runs in other sessions are ended, even if they change their environment
// or ignore SIGTERM, and the program continues.
func TestCommandsEndAndTheirProgramGoesOn(t *testing.T) {
	t.Parallel()
	const script = `
setsid sleep 1000 &
setsid sh -c 'trap "" TERM; env -i sleep 1001 & touch deaf; while :; do sleep 0.1; done' &
one=$!
sh -c 'while [ ! -e go ]; do sleep 0.02; done' &
same=$!
while [ ! -e deaf ]; do sleep 0.02; done
echo begun
wait $one
touch go
wait $same && echo "same session: $?"
exec sleep 1002`
	s := newSandbox(t)
	bare := detached(t, script)
	for name, d := range map[string]process.Detached{"in a sandbox": s.detached(t, script), "without": bare} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, d)
			must.Equal(t, "begun\n", read(t, d.Files.Stdout))
			if n := p.EndCommands(200 * time.Millisecond); n < 3 {
				t.Errorf("%d processes were ended", n)
			}
			must.Eventually(t, "the program to go on", func() bool { return read(t, d.Files.Stdout) != "begun\n" })
			must.Equal(t, "begun\nsame session: 0\n", read(t, d.Files.Stdout), "it printed")
			must.Equal(t, 0, p.EndCommands(time.Second), "processes are left")
			select {
			case <-p.Done():
				t.Error("the program has ended")
			default:
			}
		})
	}
}

// A program that runs briefly has the same access and limits as any other from its beginning,
// and ends with its context.
func TestProgramsThatRunBriefly(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	run := func(ctx context.Context, script string) (string, error) {
		var out strings.Builder
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.dir, &out, &out, 5*time.Second
		err := s.RunBriefly(t.Context(), cmd, process.Access{Writable: []string{s.dir}}, limit.Limits{Memory: limit.GiB, FileSize: limit.MiB, Processes: 99})
		return strings.TrimSpace(out.String()), err
	}
	for script, want := range map[string]string{
		"ulimit -d; echo $$ > own; ls /proc | grep -c '^[0-9]'": "1048576\n",
		"cat " + filepath.Join(s.hidden, "secret"):              "No such file",
		"head -c 2000000 /dev/zero > large; wc -c < large":      "1048576",
		"echo here > here; cat here":                            "here",
		"echo net: $(tail -n +3 /proc/net/dev | cut -d: -f1):":  "net: lo:",
	} {
		got, _ := run(t.Context(), script)
		must.Contain(t, got, want, script)
	}
	_, err := run(t.Context(), "exit 7")
	must.Fail(t, err, "7")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := run(ctx, "trap '' TERM; setsid sleep 60 & sleep 60"); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("a program whose context ended went on for %s: %v", time.Since(begin), err)
	}
}

// However a program is started in a sandbox, the system call filter is in force. Attacks from
// within (test/attack) show what the filter refuses.
func TestEveryProgramInASandboxIsFiltered(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	const script = "grep -w Seccomp /proc/self/status"
	const filtered = "Seccomp:\t2"
	ended, err := process.Run(t.Context(), s.command(script))
	if err != nil || strings.TrimSpace(ended.Stdout) != filtered {
		t.Errorf("a program that is run: %q, %v", ended.Stdout, err)
	}
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &out, &out
	if err := s.RunBriefly(t.Context(), cmd, process.Access{Writable: []string{s.dir}}, limit.Limits{}); err != nil || strings.TrimSpace(out.String()) != filtered {
		t.Errorf("a program that runs briefly: %q, %v", out.String(), err)
	}
	dir := t.TempDir()
	files := process.Files{Record: filepath.Join(dir, "record"), Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")}
	p, err := process.Start(t.Context(), process.Detached{
		Args: []string{"sh", "-c", script + "; ls -l /proc/self/fd | grep -c memfd"}, Dir: s.dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Marker: "job_filter/1", Sandbox: s.Sandbox,
		Access: process.Access{Writable: []string{s.dir}}, Files: files,
	})
	must.OK(t, err)
	<-p.Done()
	if text, err := os.ReadFile(files.Stdout); err != nil || strings.TrimSpace(string(text)) != filtered+"\n1" { // its input is one
		t.Errorf("a detached program: %q, %v", text, err)
	}
}

func BenchmarkStartInASandbox(b *testing.B) {
	s := newSandbox(b)
	for b.Loop() {
		if ended, err := process.Run(b.Context(), s.command("exit 0")); err != nil || ended.Code != 0 {
			b.Fatal(ended, err)
		}
	}
}
