package machines

import (
	"context"
	"maps"
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
	"ringback/test/rig"
	"ringback/test/scan"
)

// original is a server whose data directory is copied. It has a job whose CLI runs, another that waits for
// a worker, one whose action was approved and has not run, and a notice that nobody has accepted.
type original struct {
	*rig.Gated
	hook *rig.Webhook
	// dir is where the CLI waits, see rig.PatientCLI; running is its job.
	dir, running string
}

func startOriginal(t *testing.T) *original {
	t.Helper()
	o := &original{Gated: &rig.Gated{T: t}, hook: rig.StartHook(t), dir: t.TempDir()}
	o.hook.Fail.Store(1 << 30)
	env := vars{
		"HOLD": "0s", "WORKERS": "2", "CLAUDE_BIN": rig.PatientCLI(t, o.dir), "DATA_DIR": t.TempDir(),
		"WEBHOOK_URL": o.hook.URL, "WEBHOOK_SECRET": o.hook.Secret, "NODE_TIMEOUT": "2s", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
	}
	env["PROMPTS_DIR"], o.Runs = rig.GatedKind(t, "")
	o.N = rig.Start(t, env)
	o.ID, o.Envelope = o.Another()
	o.Call(object{"name": "shop"}, false)
	question := o.N.OpenCheckpoint(t, o.ID, "awaiting_approval")["id"].(string)
	o.N.Reply(t, question, object{"decision": "approve"})
	o.N.Renew(t, o.Envelope)
	o.running = o.N.Create(t, object{"userId": "u2"})
	must.Eventually(t, "the CLI to start", func() bool { return len(starts(o.dir)) == 1 })
	must.Eventually(t, "its process to be recorded", func() bool { return strings.Contains(o.N.Log.String(), "turn started") })
	o.N.Create(t, object{"userId": "u3"})
	return o
}

// startCopy starts a server that is to refuse, and returns what it says. change is that of
// harness.Options.
func startCopy(t *testing.T, env vars, dir string, change func(*exec.Cmd), args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	serve := exec.CommandContext(ctx, harness.Binary(), append([]string{"serve"}, args...)...)
	all := vars{"SANDBOX": "off", "PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "LOG_FORMAT": "text"}
	maps.Copy(all, env)
	maps.Copy(all, vars{"DATA_DIR": dir, "LISTEN_ADDR": "127.0.0.1:0"})
	for name, value := range all {
		serve.Env = append(serve.Env, name+"="+value)
	}
	if change != nil {
		serve.SysProcAttr = &syscall.SysProcAttr{}
		change(serve)
	}
	said, err := serve.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("it starts: %s", said)
	}
	return string(said)
}

func shell(t *testing.T, command string, args ...string) {
	t.Helper()
	if out, err := exec.Command("sh", append([]string{"-ec", command, "sh"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// Nothing that the original does is done by its copy, too, and its processes live. The original stands
// still meanwhile, so that whatever happens is the copy's doing.
func TestACopyOfAStoreDoesNothing(t *testing.T) {
	t.Parallel()
	o := startOriginal(t)
	must.OK(t, o.N.Cmd.Process.Signal(syscall.SIGSTOP))
	defer func() { _ = o.N.Cmd.Process.Signal(syscall.SIGCONT) }()
	time.Sleep(100 * time.Millisecond) // for calls under way
	cli, calls := slices.Min(rig.ProcessesIn(o.N.Dir)), len(o.hook.IDs)
	for name, row := range map[string]struct {
		copied string // $1 to $2
		args   []string
		says   string
	}{
		"by cp":        {`cp -a "$1/." "$2"`, nil, "start this one once with --take-over"},
		"by tar":       {`tar -C "$1" -cf - . | tar -C "$2" -xf -`, nil, "start this one once with --take-over"},
		"by reflink":   {`cp -a --reflink=auto "$1/." "$2"`, nil, "start this one once with --take-over"},
		"of its file":  {`mkdir "$2/redis"; cp -a "$1/redis/appendonlydir" "$2/redis"`, nil, "start this one once with --take-over"},
		"by links":     {`cp -al "$1/." "$2"`, nil, "another ringback already uses the store"},
		"to take over": {`cp -a "$1/." "$2"`, []string{"--take-over"}, "another server holds this node's name"},
	} {
		dir := t.TempDir()
		shell(t, row.copied, o.N.Dir, dir)
		must.Contain(t, startCopy(t, o.N.Env, dir, nil, row.args...), row.says, "a copy", name)
		if len(row.args) > 0 {
			must.Contain(t, startCopy(t, o.N.Env, dir, nil), "start this one once with --take-over", "after it was refused")
		}
		if !slices.Contains(rig.ProcessesIn(o.N.Dir), cli) {
			t.Fatalf("a copy %s has ended the original's CLI", name)
		}
		must.Equal(t, calls, len(o.hook.IDs), "a copy", name, "calls no webhook")
	}
	must.OK(t, o.N.Cmd.Process.Signal(syscall.SIGCONT))
	rig.Release(t, o.dir)
	must.Equal(t, 1.0, o.N.Await(t, o.running, "received")["turn"], "the original's job took … turns")
}

// Once the original is gone, its copy continues, and what the original may have done is not done again
// untold.
func TestACopyTakesOver(t *testing.T) {
	t.Parallel()
	o := startOriginal(t)
	dir := t.TempDir()
	shell(t, `cp -a "$1/." "$2"`, o.N.Dir, dir)
	if status, _ := o.Call(object{"name": "shop"}, true); status != "success" { // after the copy was made
		t.Fatalf("the original's action is answered %s", status)
	}
	o.N.Stop(t, syscall.SIGTERM)
	harness.EndProcessesUnder(o.N.Dir)
	must.Contain(t, startCopy(t, o.N.Env, dir, nil), "start this one once with --take-over", "with the original gone")

	env := maps.Clone(o.N.Env)
	env["DATA_DIR"] = dir
	ran := must.Get(os.ReadFile(o.Runs))(t)
	o.N = rig.Start(t, env, "--take-over")
	must.Contain(t, o.N.Log.String(), `store taken over from its original" endedApprovals=1`, "the log says")
	o.N.Renew(t, o.Envelope)
	if status, _ := o.Call(object{"name": "shop"}, true); status != "pending_confirmation" {
		t.Errorf("an action that the original has run is answered %s", status)
	}
	must.Equal(t, string(ran), string(must.Get(os.ReadFile(o.Runs))(t)), "what has run")
	if answered := o.N.Want(t, 200, "GET", "/api/checkpoints?status=answered", nil); !strings.Contains(rig.JSON(answered), "the original may have run it") {
		t.Errorf("who has allowed it is told %v", answered)
	}
	rig.Release(t, o.dir)
	o.N.Await(t, o.running, "received")

	o.N.Stop(t, syscall.SIGTERM)
	o.N = rig.Start(t, env)
	o.N.Await(t, o.running, "received")
}

// A volume that moves to another machine, and whatever a restart changes, is no copy.
func TestAStoreThatMovesWithItsFilesIsNoCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := rig.Start(t, vars{"DATA_DIR": filepath.Join(dir, "a")})
	id := first.Create(t, object{"userId": "u1"})
	first.Await(t, id, "received")
	first.Stop(t, syscall.SIGKILL)
	shell(t, `mv "$1/a" "$1/b"; chown -R "$(id -u)" "$1/b"; chmod -R g+r "$1/b"; find "$1/b" -type f -exec touch {} +`, dir)
	second := rig.Start(t, vars{"DATA_DIR": filepath.Join(dir, "b")})
	second.Await(t, id, "received")
}

// inContainer runs a server with process numbers of its own, as a container does.
func inContainer(cmd *exec.Cmd) {
	cmd.Args = append([]string{"bash", "-c", `(exec -c mount -t proc proc /proc) && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = exec.LookPath("bash")
	cmd.SysProcAttr.Cloneflags, cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWPID, syscall.CLONE_NEWNS
}

// Servers with copies of one data directory, or on clones of one machine, are one node on a store that they
// share. One of them runs; the next one takes its place.
func TestANodeHasOneServer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*exec.Cmd){"on the same machine": nil, "in another container": inContainer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if change != nil && os.Getuid() != 0 {
				t.Skip("only root may make a container")
			}
			first := startWaiting(t, vars{"NODE_TIMEOUT": "3s"})
			must.Eventually(t, "its process to be recorded", func() bool { return strings.Contains(first.Log.String(), "turn started") })
			dir := t.TempDir()
			shell(t, `cp -a "$1/." "$2"`, first.Dir, dir)
			cli := slices.Min(rig.ProcessesIn(first.Dir))
			must.Contain(t, startCopy(t, first.Env, dir, change), "another server holds this node's name", "a copy", name)
			if !slices.Contains(rig.ProcessesIn(first.Dir), cli) {
				t.Fatal("the copy has ended the original's CLI")
			}

			// One that is silent for long enough counts as gone, and ends when it wakes.
			env := first.Elsewhere(t)
			if change != nil {
				must.OK(t, first.Cmd.Process.Signal(syscall.SIGSTOP))
			} else {
				first.Stop(t, syscall.SIGKILL)
				env = maps.Clone(first.Env)
			}
			env["DATA_DIR"] = dir
			second := rig.StartWith(t, harness.Options{Env: env, Change: change, Scan: scan.Suite})
			if change != nil {
				must.Eventually(t, "the copy to continue the job", func() bool { return len(starts(first.dir)) == 2 })
				must.OK(t, first.Cmd.Process.Signal(syscall.SIGCONT))
				first.AwaitExit(t)
				must.Contain(t, first.Log.String(), "another server holds this node's name", "the original ends with")
				must.Eventually(t, "its processes to end", func() bool { return len(rig.ProcessesIn(first.Dir)) == 0 })
			}
			rig.Release(t, first.dir)
			second.Await(t, first.id, "received")
		})
	}
}
