package attack

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/sample"
)

// Parts of the messages about the limits of these tests.
const (
	fileLimit    = "1 MiB"
	memoryLimit  = "224 MiB of memory"
	processLimit = "32 processes"
)

// takesTooMuch are scripts that exceed the limits of the kind of these tests, and the
// resulting messages.
var takesTooMuch = map[string]string{
	"head -c 2000000 /dev/zero > f":      fileLimit,
	"truncate -s 1G f":                   fileLimit,
	"dd if=/dev/zero of=f bs=1M count=3": fileLimit,
	"fallocate -l 2M f":                  fileLimit,
	"yes > f":                            fileLimit,
	"for i in 1 2 3 4; do head -c 400000 /dev/zero >> f; done":                     fileLimit,
	"f=$(mktemp) && trap 'rm $f' EXIT && head -c 2000000 /dev/zero > $f":           fileLimit,
	"ulimit -f unlimited; yes > f":                                                 fileLimit,
	"trap '' XFSZ; cat /dev/zero > f":                                              fileLimit,
	"python3 -c 'open(\"f\", \"w\").write(\"x\" * 2000000)'":                       fileLimit,
	"python3 -c 'x = bytearray(1 << 28)'":                                          memoryLimit,
	"ulimit -d unlimited; python3 -c 'x = \"a\" * (1 << 28)'":                      memoryLimit,
	"perl -e '$x = \"a\" x (1 << 28)'":                                             memoryLimit,
	"dd if=/dev/zero of=/dev/null bs=256M count=1":                                 memoryLimit,
	"awk 'BEGIN { x = \"a\"; while (1) x = x x }'":                                 memoryLimit,
	"python3 -c 'import mmap; m = mmap.mmap(-1, 1 << 28, flags=mmap.MAP_PRIVATE)'": memoryLimit,
	"sort -S 1G /dev/zero":                                                         memoryLimit,
}

// bombs are scripts that start more processes than the kind allows.
var bombs = []string{
	"for i in $(seq 99); do sleep 60 & done; wait", "bomb() { bomb | bomb & }; bomb; for i in $(seq 3000); do (:); done; exit 1", "for i in $(seq 99); do setsid -f sleep 60; done",
	"exec dash -c 'while :; do (sleep 60) & done'", "python3 -c 'import os\nwhile os.fork(): pass\nimport time; time.sleep(60)'",
	"python3 -c 'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()'",
	"perl -e 'while (1) { defined(my $pid = fork) or die \"cannot fork: $!\"; if (!$pid) { sleep 60; exit } }'", "while :; do sleep 60 | cat & done",
	"ulimit -u unlimited; for i in $(seq 99); do nohup sleep 60 & done; wait", "unshare -Ur sh -c 'for i in $(seq 99); do sleep 60 & done; wait' || { echo Cannot fork >&2; exit 1; }",
	"env -i setsid sh -c 'for i in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; done; wait'",
}

// What a job runs is limited, and the limit that it reached is reported: for an action's
// command, and for a verifier, which has its own limits.
func TestWhatAJobTakesIsBounded(t *testing.T) {
	t.Parallel()
	for name, mode := range chosen(t, everyMode()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scripts := maps.Clone(sample.Cases(t, 6, takesTooMuch))
			said := map[string]string{"file": fileLimit, "memory": memoryLimit, "own": "", "core": ""}
			var verifiers strings.Builder
			if mode.ordinary && mode.sandbox == "require" { // docs/sandbox.md: else processes are not counted
				for i, script := range sample.Of(t, 3, bombs) {
					scripts[script] = processLimit
					if i%2 == 1 {
						continue // half of them is enough for verifiers, which run one after the other
					}
					fmt.Fprintf(&verifiers, "- {name: bomb%d, command: %s}\n", i, encoded(t, script))
					said[fmt.Sprint("bomb", i)] = processLimit
				}
			}
			const front = "limits: {memory: 224MiB, processes: 32, file_size: 1MiB}\n"
			change := front + "workspace: {repositories: [{url: '" + repository(t, mode.ordinary) + "'}]}\nverifiers:\n" +
				"- {name: file, command: 'yes > f', limits: {memory: 1GiB}}\n- {name: memory, command: dd if=/dev/zero of=/dev/null bs=256M count=1, limits: {file_size: 2MiB}}\n" +
				"- {name: own, command: 'head -c 1500000 /dev/zero > f2', limits: {file_size: 2MiB}}\n- {name: core, command: 'test $(ulimit -Hc) = 0'}\n" + verifiers.String()
			a := attackKind(t, mode.ordinary, harness.Vars{"SANDBOX": mode.sandbox}, rules{kind: front, change: change})
			for script, want := range scripts {
				if got := a.fail(script); !strings.Contains(got, want) {
					t.Errorf("%s: it is said %q, want %q", script, got, want)
				}
			}
			a.checkVerifiers(said)
		})
	}
}

// key returns the API key of the server.
func (a *attacked) key() string { return secrets(a.mark)["API_KEYS"] }

// fail runs a script as an action that must fail, and returns the error for Claude.
func (a *attacked) fail(script string) string {
	a.t.Helper()
	body := harness.Object{"input": harness.Object{"script": script}}
	maps.Copy(body, a.envelope)
	_, answer := harness.Send(a.t, a.URL, harness.Request{Method: "POST", Path: "/api/claude/actions/attack", Body: body})
	if answer["status"] != "error" {
		a.t.Errorf("%s: the action answered %v", script, answer)
	}
	return fmt.Sprint(answer["message"])
}

// checkVerifiers runs a whole job, and checks the report of each verifier; "" for one that
// succeeds.
func (a *attacked) checkVerifiers(want map[string]string) {
	a.t.Helper()
	a.place = inVerifier
	logs := a.logs(a.runJob("true"))
	if len(logs) != len(want) {
		a.t.Fatalf("the logs are %v", logs)
	}
	for _, log := range logs {
		_, name, _ := strings.Cut(log.Verifier, ":")
		if log.Success != (want[name] == "") || !strings.Contains(log.Stderr, want[name]) {
			a.t.Errorf("the verifier %s ended as %+v, want %q", name, log, want[name])
		}
	}
}

// repository creates a repository owned by the server's user.
func repository(t *testing.T, ordinary bool) string {
	t.Helper()
	dir := filepath.Join(ownDir(t, ordinary), "service")
	for _, args := range [][]string{{"init", "--quiet", "-b", "main", dir}, {"-C", dir, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "--quiet", "--allow-empty", "-m", "Begin"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v", out, err)
		}
	}
	if ordinary {
		harness.Ordinary().Own(t, dir)
	}
	return dir
}

// ownDir creates a directory owned by the server's user.
func ownDir(t *testing.T, ordinary bool) string {
	t.Helper()
	if !ordinary {
		return t.TempDir()
	}
	return harness.Ordinary().Dir(t)
}

// A turn is limited, too, and its failure reports the limit. The limits of the kind are too
// small for the CLI, which gets higher ones.
func TestWhatATurnTakesIsBounded(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, mode := range chosen(t, everyMode()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scripts := map[string]string{
				"head -c 2000000 /dev/zero > f && exec truncate -s 300M f": "256 MiB (file_size", "yes > f": "256 MiB (file_size", "f=$(mktemp) && trap 'rm $f' EXIT && cat /dev/zero > $f": "256 MiB (file_size",
			}
			if mode.ordinary && mode.sandbox == "require" {
				// More of them, and for longer: a busy machine takes more than 60 s to start 256.
				larger := strings.NewReplacer(" 99", " 999", "60", "600")
				for _, script := range sample.Of(t, 3, bombs[:len(bombs)-1]) { // the last is too small
					scripts[larger.Replace(script)] = "256 processes"
				}
			}
			a := attackFrom(t, inTurn, mode.ordinary, rules{kind: "max_attempts: 1\nlimits: {memory: 224MiB, processes: 32, file_size: 1MiB}\n"}, harness.Vars{"SANDBOX": mode.sandbox})
			for script, want := range scripts {
				record := a.runJob("exec >/dev/null\n" + script) // background processes must not keep the pipe open
				if said := fmt.Sprint(record["error"]); record["status"] != "failed" || !strings.Contains(said, want) {
					t.Errorf("%s ended as %v with %q, want %q", script, record["status"], said, want)
				}
			}
			if said := a.runAll([]string{"echo fine"}); !strings.Contains(said[0], "fine") {
				t.Errorf("another turn has said %q", said)
			}
		})
	}
}
