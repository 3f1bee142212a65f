package process_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

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
