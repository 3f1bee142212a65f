package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
