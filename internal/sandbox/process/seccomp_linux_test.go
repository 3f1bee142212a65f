package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

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
