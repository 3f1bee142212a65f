package machines

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ringback/internal/store"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// onDir runs ringback with a data directory.
func onDir(t *testing.T, dir string, args ...string) (code int, out string) {
	t.Helper()
	code, out, _ = rig.Ringback(t, vars{"DATA_DIR": dir}, args...)
	return code, out
}

// backedUp returns a backup of a data directory.
func backedUp(t *testing.T, dir string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "backup.tar.gz")
	if code, out := onDir(t, dir, "backup", file); code != 0 || !strings.Contains(out, "Backed up to "+file) {
		t.Fatalf("the backup ends with %d: %s", code, out)
	}
	return file
}

// restored returns a new data directory with what a backup has.
func restored(t *testing.T, file string) (dir, out string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	code, out := onDir(t, dir, "restore", file)
	if code != 0 || !strings.Contains(out, "0 inconsistencies") {
		t.Fatalf("the restore ends with %d: %s", code, out)
	}
	return dir, out
}

// A backup is made while all sorts of jobs are under way, and the original dies at once. What is restored continues:
// nothing runs twice, and what may have run is asked again.
func TestABackupIsRestored(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 2)
	hook, dir, remote := rig.StartHook(t), t.TempDir(), rig.GoRepository(t, "service")
	g := &rig.Gated{T: t}
	env := vars{
		"HOLD": "0s", "WORKERS": "3", "CLAUDE_BIN": rig.PatientCLI(t, dir), "DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "2s",
		"CHANGE_LIMIT": "1KiB", "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.Secret, "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
	}
	env["PROMPTS_DIR"], g.Runs = rig.GatedKind(t, "")
	g.N = rig.Start(t, env)
	var long strings.Builder // so the store has no copy of the change
	for range 100 {
		long.WriteString(rand.Text() + " ")
	}
	change := g.N.Create(t, object{"kind": "code-change", "userId": "u4", "options": object{"simulate": "success"}, "input": object{
		"prompt": long.String(), "repos": []any{object{"url": remote}},
	}})
	g.N.OpenCheckpoint(t, change, "awaiting_approval")
	accepted := <-hook.IDs
	hook.Fail.Store(1 << 30)
	parked, asks := g.N.Manual(t, object{"userId": "u5"})
	g.N.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(asks, object{"type": "information_request", "message": "Which one?"}))
	question := g.N.OpenCheckpoint(t, parked, "awaiting_input")["id"].(string)
	g.ID, g.Envelope = g.Another()
	g.Call(object{"name": "shop"}, false)
	g.N.Reply(t, g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["id"].(string), object{"decision": "approve"})
	g.N.Renew(t, g.Envelope)
	running := g.N.Create(t, object{"userId": "u2"})
	must.Eventually(t, "the CLI to start", func() bool { return len(starts(dir)) == 1 })
	must.Eventually(t, "its process to be recorded", func() bool { return strings.Contains(g.N.Log.String(), "turn started") })
	rig.WriteFiles(t, filepath.Join(env["DATA_DIR"], "nodes", "0", "jobs", running, "work"), map[string]string{"report.txt": "a report"})
	queued := g.N.Create(t, object{"userId": "u3"})
	open := <-hook.IDs // it is not accepted

	file := backedUp(t, env["DATA_DIR"])
	g.N.Stop(t, syscall.SIGKILL)
	harness.EndProcessesUnder(env["DATA_DIR"])
	data, out := restored(t, file)
	must.Contain(t, out, "Allowed and not run yet: 1;")

	env = maps.Clone(env)
	env["DATA_DIR"] = data
	hook.Fail.Store(0)
	g.N = rig.Start(t, env)
	g.N.Renew(t, g.Envelope)
	if status, _ := g.Call(object{"name": "shop"}, true); status != "pending_confirmation" {
		t.Errorf("an action that the original may have run is answered %s", status)
	}
	must.Equal(t, 0, rig.Ran(t, g.Runs), "runs of the action")
	g.N.Reply(t, question, object{"text": "The other one"})
	g.N.Renew(t, asks)
	g.N.Want(t, 200, "POST", "/api/claude/result", rig.With(asks, rig.MealResult("Soup")))
	g.N.Await(t, parked, "received")
	if diff := rig.JSON(g.N.Want(t, 200, "GET", "/api/jobs/"+change, nil)); !strings.Contains(diff, "awaiting_approval") {
		t.Errorf("the change is %s", diff)
	}
	must.Contain(t, g.N.Text(t, "/api/jobs/"+change+"/diff?file=SIMULATED.md&from=1&context=9"), "SIMULATED")
	g.N.Approve(t, change)
	g.N.Await(t, change, "received")
	must.Contain(t, harness.Git(t, remote, "branch", "--list"), "ringback/"+change, "the remote has")
	rig.Release(t, dir)
	g.N.Await(t, running, "received")
	g.N.Await(t, queued, "received")
	must.Equal(t, "a report", g.N.Text(t, "/api/jobs/"+running+"/files/report.txt"))
	cli := rig.CommandLine(t, g.N)
	for _, id := range []string{g.ID, change, parked} {
		must.Contain(t, cli("audit", id, "--verify"), "as it was written")
	}
	must.Contain(t, cli("doctor"), "The store is in order.")
	for again := ""; again != open; again = <-hook.IDs {
		must.Equal(t, false, again == accepted, "a notice that was accepted comes again")
	}
	g.N.Stop(t, syscall.SIGTERM)
	rig.Start(t, env).Await(t, running, "received")
}

// A conversation of which the store has no copy continues.
func TestAConversationIsRestored(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	env := vars{"REDIS_URL": "", "DATA_DIR": t.TempDir(), "CONVERSATION_LIMIT": "0", "HOLD": "0s"}
	n, model := rig.RealClaude(t, env, playTalk)
	h := &hosts{Node: n, t: t, model: model}
	id := n.Create(t, object{"kind": "media", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "a lake", "aspect_ratio": "invalid"}})
	n.OpenCheckpoint(t, id, "awaiting_input")
	must.Eventually(t, "the turn to end", func() bool { return strings.Contains(n.Log.String(), "turn ended") })
	file := backedUp(t, env["DATA_DIR"])
	n.Stop(t, syscall.SIGKILL)
	harness.EndProcessesUnder(env["DATA_DIR"])
	h.Env["DATA_DIR"], _ = restored(t, file)
	h.Node = rig.Start(t, h.Env)
	h.Say(t, "s1", "Use 16:9")
	must.Equal(t, 2.0, h.Await(t, id, "received")["turn"], "turns")
	must.Equal(t, 2, strings.Count(h.latest(), "- REQUEST_ID:"), "prompts that the model has seen in this conversation")
	must.NotContain(t, h.latest(), "What Happened So Far")
}

// A call that waits for a person when the backup is made is answered after it was made again.
func TestACallThatWaitsIsAskedAgainAfterARestore(t *testing.T) {
	t.Parallel()
	env := vars{"HOLD": "5m", "DATA_DIR": t.TempDir()}
	n := rig.Start(t, env)
	id, envelope := n.Manual(t, object{"userId": "u1"})
	ask := object{"type": "information_request", "message": "Which one?"}
	call := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL+"/api/claude/checkpoints", strings.NewReader(rig.JSON(rig.With(envelope, ask)))))(t)
	call.Header.Set("Content-Type", "application/json")
	go func() {
		if resp, err := http.DefaultTransport.RoundTrip(call); err == nil { // the server dies before it answers
			_ = resp.Body.Close()
		}
	}()
	question := n.OpenCheckpoint(t, id, "awaiting_input")["id"].(string)
	file := backedUp(t, env["DATA_DIR"])
	n.Stop(t, syscall.SIGKILL)
	data, _ := restored(t, file)
	n = rig.Start(t, vars{"HOLD": "5m", "DATA_DIR": data})
	n.Reply(t, question, object{"text": "The other one"})
	n.Renew(t, envelope)
	answer := n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, ask))
	must.Contain(t, rig.JSON(answer), "The other one")
	must.Equal(t, 1, len(n.Want(t, 200, "GET", "/api/checkpoints?status=answered", nil)["checkpoints"].([]any)), "questions")
}

// While the original runs, what was restored from it does not start on the same machine.
func TestARestoredServerDoesNotStartNextToItsOriginal(t *testing.T) {
	t.Parallel()
	o := startOriginal(t)
	data, _ := restored(t, backedUp(t, o.N.Dir))
	must.OK(t, o.N.Cmd.Process.Signal(syscall.SIGSTOP))
	cli := slices.Min(rig.ProcessesIn(o.N.Dir))
	must.Contain(t, startCopy(t, o.N.Env, data, nil), "another server holds this node's name")
	must.OK(t, o.N.Cmd.Process.Signal(syscall.SIGCONT))
	must.Equal(t, true, slices.Contains(rig.ProcessesIn(o.N.Dir), cli), "the original's CLI lives")
	rig.Release(t, o.dir)
	must.Equal(t, 1.0, o.N.Await(t, o.running, "received")["turn"], "the original's job took … turns")
}

// large returns a data directory, of a server that has ended, whose backup takes a moment, and the job in it.
func large(t *testing.T) (dir, id string) {
	t.Helper()
	dir = t.TempDir()
	n := rig.Start(t, vars{"DATA_DIR": dir})
	id = n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "received")
	n.Stop(t, syscall.SIGTERM)
	noise := make([]byte, 4<<20)
	must.Get(rand.Read(noise))(t)
	for name := range strings.FieldsSeq("a b c d e f g h") {
		must.OK(t, os.WriteFile(filepath.Join(dir, "conversations", name), noise, 0o600))
	}
	return dir, id
}

// interrupted runs ringback with a data directory, and kills it after a time. It returns false if it has ended before.
func interrupted(t *testing.T, dir string, after time.Duration, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(), args...) // it is killed
	cmd.Env = []string{"DATA_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	cmd.Dir = t.TempDir()
	return cmd.Run() != nil
}

func TestABackupThatIsInterrupted(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	dir, _ := large(t)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	for after := 20 * time.Millisecond; interrupted(t, dir, after, "backup", file); after = after * 3 / 2 {
		if _, err := os.Stat(file); err == nil { // it was killed as it ended
			break
		}
	}
	restored(t, file)
	code, out := onDir(t, dir, "backup", file)
	if code != 2 || !strings.Contains(out, "exists: name another file, or add --force") {
		t.Errorf("a second backup ends with %d: %s", code, out)
	}
	must.Equal(t, os.FileMode(0o600), must.Get(os.Stat(file))(t).Mode())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if code, out := onDir(t, dir, "backup", "--force", file); code != 0 {
				t.Errorf("one of three backups ends with %d: %s", code, out)
			}
		})
	}
	all.Wait()
	restored(t, file)
}

// However a restore is interrupted, no server starts on the half of it, and it can be repeated.
func TestARestoreThatIsInterrupted(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	dir, id := large(t)
	file, to := backedUp(t, dir), filepath.Join(t.TempDir(), "data")
	times := 0
	for after := 20 * time.Millisecond; interrupted(t, to, after, "restore", file); after = after * 5 / 4 {
		if _, err := os.Stat(filepath.Join(to, ".ringback-restore")); err == nil {
			times++
			must.Contain(t, startCopy(t, vars{}, to, nil), "repeat ringback restore", "a server")
		} else if _, err := os.Stat(filepath.Join(to, "redis")); err == nil { // it was killed as it ended
			break
		}
	}
	if times == 0 {
		t.Error("no restore was interrupted")
	}
	entries := must.Get(os.ReadDir(to))(t)
	for _, e := range entries {
		isPart := slices.Contains([]string{"redis", "nodes", "conversations"}, e.Name()) || strings.HasPrefix(e.Name(), ".ringback-restored-")
		must.Equal(t, true, isPart, e.Name(), "is part of it")
	}
	if code, out := onDir(t, to, "restore", file); code != 1 || !strings.Contains(out, "has an installation already (") {
		t.Errorf("another restore ends with %d: %s", code, out)
	}
	rig.Start(t, vars{"DATA_DIR": to}).Await(t, id, "received")
}

func TestWhatCannotBeBackedUpOrRestored(t *testing.T) {
	t.Parallel()
	dir, _ := large(t)
	file := backedUp(t, dir)
	whole := must.Get(os.ReadFile(file))(t)
	short := filepath.Join(t.TempDir(), "short")
	must.OK(t, os.WriteFile(short, whole[:len(whole)-9], 0o600))
	later := t.TempDir() // of a version to come
	shell(t, `cp -a "$1/." "$2"; printf '*3\r\n$3\r\nSET\r\n$14\r\nrb:{00}:format\r\n$2\r\n99\r\n' | tee -a "$2"/redis/appendonlydir/*.incr.aof`, dir, later)
	newer := backedUp(t, later)
	for name, row := range map[string]struct {
		env  vars
		args []string
		says string
	}{
		"no installation":         {vars{"DATA_DIR": t.TempDir()}, []string{"backup", filepath.Join(t.TempDir(), "b")}, "there is no store in"},
		"no such directory":       {vars{"DATA_DIR": dir}, []string{"backup", filepath.Join(t.TempDir(), "none", "b")}, "no such file or directory"},
		"no such backup":          {vars{"DATA_DIR": t.TempDir()}, []string{"restore", filepath.Join(t.TempDir(), "b")}, "no such file or directory"},
		"over an installation":    {vars{"DATA_DIR": dir}, []string{"restore", file}, "has an installation already ("},
		"a truncated backup":      {vars{"DATA_DIR": t.TempDir()}, []string{"restore", short}, "truncated or damaged"},
		"a later version's":       {vars{"DATA_DIR": t.TempDir()}, []string{"restore", newer}, "in format 99"},
		"another program's file":  {vars{"DATA_DIR": t.TempDir()}, []string{"restore", harness.Binary()}, "not a backup"},
		"without redis-server":    {vars{"DATA_DIR": t.TempDir(), "PATH": rig.PathWithout(t, "redis-server", "valkey-server")}, []string{"restore", file}, "must be on PATH"},
		"an unknown output":       {vars{"DATA_DIR": t.TempDir()}, []string{"restore", "-o", "xml", file}, "--output does not allow xml"},
		"to a Redis that is away": {vars{"DATA_DIR": t.TempDir(), "REDIS_URL": "redis://127.0.0.1:1"}, []string{"restore", file}, "REDIS_URL: "},
	} {
		before := must.Get(os.ReadDir(row.env["DATA_DIR"]))(t)
		code, out, _ := rig.Ringback(t, row.env, row.args...)
		if code == 0 || !strings.Contains(out, row.says) {
			t.Errorf("%s: it ends with %d: %s", name, code, out)
		}
		must.Equal(t, len(before), len(must.Get(os.ReadDir(row.env["DATA_DIR"]))(t)), name, "leaves … files")
	}
	for command, fields := range map[string][]string{
		"backup":  {"bytes", "createdAt", "files", "format", "hasStore", "layout", "nodes", "version"},
		"restore": {"auditLogs", "bytes", "createdAt", "endedApprovals", "examination", "files", "format", "hasStore", "layout", "nodes", "version"},
	} {
		args := []string{command, "-o", "json", filepath.Join(t.TempDir(), "b")}
		env := vars{"DATA_DIR": dir}
		if command == "restore" {
			env["DATA_DIR"], args[3] = t.TempDir(), file
		}
		code, out, _ := rig.Ringback(t, env, args...)
		var answer object
		must.OK(t, json.Unmarshal([]byte(out), &answer))
		must.Equal(t, fields, slices.Sorted(maps.Keys(answer)), command, "ends with", code)
	}
}

// A full disk costs no data: neither that of a backup nor that of a restore.
func TestABackupAndAFullDisk(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	dir, id := large(t)
	file := backedUp(t, dir)
	disk := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", disk).Run() != nil {
		t.Skip("mounting a disk requires root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	if code, out := onDir(t, dir, "backup", filepath.Join(disk, "b")); code != 1 || !strings.Contains(out, "no space left") {
		t.Errorf("a backup to a full disk ends with %d: %s", code, out)
	}
	if code, out := onDir(t, filepath.Join(disk, "data"), "restore", file); code != 1 || !strings.Contains(out, "does not fit") {
		t.Errorf("a restore to a full disk ends with %d: %s", code, out)
	}
	left, err := filepath.Glob(filepath.Join(disk, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("what is left on the disk: %q", left)
	}
	must.OK(t, exec.Command("mount", "-o", "remount,size=200m", disk).Run())
	must.Equal(t, 0, first(onDir(t, filepath.Join(disk, "data"), "restore", file)), "with room, a restore ends with")
	rig.Start(t, vars{"DATA_DIR": filepath.Join(disk, "data")}).Await(t, id, "received")
}

func first[T, U any](one T, _ U) T { return one }

// A parked job moves from an embedded store to a Redis of the operator's, and back.
func TestAStoreMovesToARedisAndBack(t *testing.T) {
	t.Parallel()
	for name, start := range sample.Cases(t, 1, map[string]func(*testing.T) (url, note string){
		"a Redis": func(t *testing.T) (url, note string) {
			t.Helper()
			rights := append(store.Rights(), "+dump", "+pttl", "+restore")
			return rig.StartRedis(t).Restricted(t, rights...), "note     REDIS_URL: the Redis at "
		},
		"a Cluster": func(t *testing.T) (url, note string) {
			t.Helper()
			return harness.StartCluster(t, 0).URL, "the store of"
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, note := start(t)
			movesToAndBack(t, url, note)
		})
	}
}

func movesToAndBack(t *testing.T, url, note string) {
	t.Helper()
	dir, there := t.TempDir(), t.TempDir()
	n := rig.Start(t, vars{"HOLD": "0s", "DATA_DIR": dir})
	id, envelope := n.Manual(t, object{"userId": "u1"})
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, object{"type": "information_request", "message": "Which one?"}))
	question := n.OpenCheckpoint(t, id, "awaiting_input")["id"].(string)
	file := backedUp(t, dir)
	n.Stop(t, syscall.SIGTERM)

	run := func(args ...string) (code int, out string) {
		t.Helper()
		code, out, _ = rig.Ringback(t, vars{"DATA_DIR": there, "REDIS_URL": url}, args...)
		return code, out
	}
	code, out := run("backup", filepath.Join(t.TempDir(), "nothing.tar.gz"))
	must.Contain(t, out, "it has no keys of Ringback (rb:*)", "a backup of an empty Redis ends with", code)
	if code, out := run("restore", file); code != 0 {
		t.Fatalf("the restore into a Redis ends with %d: %s", code, out)
	}
	n = rig.Start(t, vars{"HOLD": "0s", "DATA_DIR": there, "REDIS_URL": url, "NODE_TIMEOUT": "2s"})
	n.OpenCheckpoint(t, id, "awaiting_input")
	file = filepath.Join(t.TempDir(), "back.tar.gz")
	code, out = run("backup", file)
	must.Equal(t, 1, code, "with a running server, a backup ends with")
	must.Contain(t, out, "servers use it (")
	code, out = run("backup", "--files-only", file)
	must.Contain(t, out, "without the store", "a backup of the files ends with", code)
	n.Stop(t, syscall.SIGTERM)
	code, out = run("backup", "--force", file)
	must.Contain(t, out, note, "a backup ends with", code)
	if code, out := run("restore", file); code != 1 || !strings.Contains(out, "has an installation already") {
		t.Errorf("a restore over it ends with %d: %s", code, out)
	}
	there = t.TempDir()
	if code, out := run("restore", file); code != 1 || !strings.Contains(out, "has keys of Ringback (rb:*) already") {
		t.Errorf("a restore over a store ends with %d: %s", code, out)
	}

	data, _ := restored(t, file)
	n = rig.Start(t, vars{"HOLD": "0s", "DATA_DIR": data})
	n.Reply(t, question, object{"text": "The other one"})
	n.Renew(t, envelope)
	n.Want(t, 200, "POST", "/api/claude/result", rig.With(envelope, rig.MealResult("Soup")))
	n.Await(t, id, "received")
}
