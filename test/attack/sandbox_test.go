package attack

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// secrets returns variables of a server under attack, whose values contain mark.
func secrets(mark string) harness.Vars {
	vars := harness.Vars{}
	for _, name := range []string{"API_KEYS", "JWT_SECRET", "WEBHOOK_SECRET", "SLACK_SIGNING_SECRET", "GH_TOKEN", "ANTHROPIC_API_KEY", "OTHER_PASSWORD"} {
		vars[name] = mark + "-" + strings.ToLower(name) + "-0123456789abcdef"
	}
	return vars
}

// attacked is a server whose jobs run an attacker's code.
type attacked struct {
	*harness.Server
	t        *testing.T
	ordinary bool
	// mark is in each of this server's secrets, and in no other server's.
	mark string
	// place is where scripts run.
	place    place
	id       string
	envelope harness.Object
}

// rules are additional settings of kinds under attack: in the front matter of the action's
// kind, in its action, and in the front matter of a kind named change, which works on a
// repository.
type rules struct{ kind, action, change string }

// attackKind starts a server, as root or as an ordinary user, with an action that runs any
// script without approval.
func attackKind(t *testing.T, ordinary bool, env harness.Vars, r rules) *attacked {
	t.Helper()
	dir := harness.Ordinary().Dir(t)
	if !ordinary {
		must.OK(t, os.Chown(dir, os.Getuid(), os.Getgid()))
	}
	kind := "---\n" + r.kind + "actions:\n- name: attack\n" + r.action + "  description: Attacks.\n  confirm: never\n  timeout: 2m\n  readable: [" + filepath.Join(dir, "readable") + "]\n  writable: [" + filepath.Join(dir, "writable") + "]\n  command: [sh, -c, '{{input.script}}']\n" +
		"  input: {type: object, properties: {script: {type: string}}}\n---\nAttack.\n"
	vars := harness.Vars{"DATA_DIR": filepath.Join(dir, "data"), "PROMPTS_DIR": filepath.Join(dir, "prompts"), "HOME": filepath.Join(dir, "home")}
	for _, name := range []string{"data", "prompts", "home", "readable", "writable"} {
		must.OK(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	if err := os.Chmod(filepath.Join(dir, "writable"), 0o777); err != nil { // if the server is root, jobs run as another user
		t.Fatal(err)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "prompts", "attack.md"), []byte(kind), 0o600))
	if r.change != "" {
		must.OK(t, os.WriteFile(filepath.Join(dir, "prompts", "change.md"), []byte("---\n"+r.change+"---\nChange it.\n"), 0o600))
	}
	harness.WriteProgram(t, filepath.Join(dir, "claude"), []byte(obedientCLI))
	vars["CLAUDE_BIN"] = filepath.Join(dir, "claude")
	mark := "planted-" + rand.Text()
	maps.Copy(vars, secrets(mark))
	maps.Copy(vars, env)
	if ordinary {
		harness.Ordinary().Own(t, dir)
	}
	s := harness.Start(t, vars, func(cmd *exec.Cmd) {
		cmd.Dir = cmp.Or(env["PWD"], dir)
		if ordinary {
			harness.Ordinary().Run(cmd)
		}
	})
	a := &attacked{Server: s, t: t, ordinary: ordinary, mark: mark}
	a.id, a.envelope = s.Manual(t, map[string]string{"Authorization": "Bearer " + cmp.Or(vars["API_KEYS"], shopKey)}, harness.Object{"kind": "attack", "userId": "u1", "input": harness.Object{}})
	return a
}

// callbacks returns the URL for callbacks.
func (a *attacked) callbacks() string { return cmp.Or(a.CallbackURL, a.URL) }

// run runs a script as an action, and returns its output.
func (a *attacked) run(script string) string {
	a.t.Helper()
	// The output is returned as the result; failures must not stop the script.
	wrapped := "{ " + script + "\necho\n} 2>&1 | tr -d '\\000' | head -c 200000 | base64 -w0 | sed 's/^/{\"out\":\"/; s/$/\"}/'"
	body := harness.Object{"input": harness.Object{"script": wrapped}}
	maps.Copy(body, a.envelope)
	status, answer := 0, harness.Object{"status": "running"}
	for answer["status"] == "running" { // it takes longer than the maximum wait of a call
		status, answer = harness.Send(a.t, a.callbacks(), harness.Request{Method: "POST", Path: "/api/claude/actions/attack", Body: body})
	}
	out, ok := answer["out"].(string)
	if !ok {
		a.t.Fatalf("the action answered %d %v", status, answer)
	}
	text, err := base64.StdEncoding.DecodeString(out)
	must.OK(a.t, err)
	return string(text)
}

// mode is a way to run a server under attack.
type mode struct {
	ordinary bool
	sandbox  string
}

var (
	unconfined = map[string]mode{"root, no sandbox": {false, "off"}, "ordinary, no sandbox": {true, "off"}}
	sandboxed  = map[string]mode{"root, sandbox": {false, "require"}, "ordinary, sandbox": {true, "require"}}
)

// everyMode returns the modes with and without a sandbox.
func everyMode() map[string]mode {
	all := maps.Clone(sandboxed)
	maps.Copy(all, unconfined)
	return all
}

// usual reports whether a mode is that of an ordinary user's server in the sandbox.
func (m mode) usual() bool { return m.ordinary && m.sandbox == "require" }

// setup is a mode of a server under attack, and the place of the attack.
type setup struct {
	mode
	place place
}

// setups returns each of these modes with each place.
func setups(modes map[string]mode) map[string]setup {
	all := map[string]setup{}
	for name, mode := range modes {
		for _, place := range places {
			if place != inAction && !mode.ordinary && mode.sandbox == "off" {
				continue // there are few guarantees there, and the action's place tests them
			}
			all[name+", "+string(place)] = setup{mode, place}
		}
	}
	return all
}

// chosen returns the cases that run: make test attacks the usual server in one case, and another
// server in one.
func chosen[C interface{ usual() bool }](t *testing.T, cases map[string]C) map[string]C {
	t.Helper()
	usual, others := map[string]C{}, map[string]C{}
	for name, c := range cases {
		if c.usual() {
			usual[name] = c
		} else {
			others[name] = c
		}
	}
	all := maps.Clone(sample.Cases(t, 1, usual))
	maps.Copy(all, sample.Cases(t, 1, others))
	return all
}

// inEach attacks a server in each mode, from everything that runs for a job.
func inEach(t *testing.T, do func(a *attacked, confined bool)) {
	t.Helper()
	inModes(t, everyMode(), do)
}

// inEachSandbox is inEach for servers with a sandbox.
func inEachSandbox(t *testing.T, do func(a *attacked)) {
	t.Helper()
	inModes(t, sandboxed, func(a *attacked, _ bool) { do(a) })
}

func inModes(t *testing.T, modes map[string]mode, do func(a *attacked, confined bool)) {
	t.Helper()
	for name, s := range chosen(t, setups(modes)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(attackFrom(t, s.place, s.ordinary, rules{}, harness.Vars{"SANDBOX": s.sandbox}), s.sandbox == "require")
		})
	}
}

// In every sandbox mode, an ordinary user's server protects its environment and memory.
// Without a sandbox, root can access everything, as docs/sandbox.md states.
func TestTheServersSecretsAreNotRead(t *testing.T) {
	t.Parallel()
	inEach(t, func(a *attacked, confined bool) {
		if confined || a.ordinary {
			readSecrets(a)
		}
	})
}

func readSecrets(a *attacked) {
	server := strconv.Itoa(a.Cmd.Process.Pid)
	var scripts []string
	for _, script := range []string{
		"env", "cat /proc/$UP/environ", "cat /proc/SERVER/environ", "cat /proc/SERVER/task/*/environ", "cat /proc/[0-9]*/environ", "strings /proc/SERVER/environ",
		"dd if=/proc/SERVER/environ", "cat /proc/SERVER/mem", "cat /proc/SERVER/maps && echo got-$((40+2))", "cat /proc/SERVER/cmdline", "cat /proc/[0-9]*/cmdline",
		"ls /proc/SERVER/fd/ && cat /proc/SERVER/fd/*", "cat /proc/SERVER/cwd/../proc/SERVER/environ", "cat /proc/SERVER/root/proc/SERVER/environ",
		"ln -s /proc/SERVER/environ e; cat e", "setsid cat /proc/SERVER/environ", "cat /proc/SERVER/auxv && echo got-$((40+2))", "cat /dev/shm/* /tmp/ringback*",
		"gcore SERVER; cat core*", "kill -STOP SERVER; kill -CONT SERVER; cat /proc/SERVER/environ",
	} {
		scripts = append(scripts, strings.ReplaceAll(script, "SERVER", server))
	}
	for i, got := range a.runAll(scripts) {
		if strings.Contains(got, a.mark) || strings.Contains(got, "got-42") {
			a.t.Errorf("%s shows a secret of the server", scripts[i])
		}
	}
}

// The embedded Redis serves only its server, whatever process opens its socket.
func TestTheEmbeddedRedisIsNotRead(t *testing.T) {
	t.Parallel()
	inEach(t, func(a *attacked, _ bool) {
		socket := filepath.Join(a.Dir, "redis", "redis.sock")
		var scripts []string
		for _, args := range []string{
			"keys '*'", "info", "config get requirepass", "config set requirepass ''", "auth ''", "-a '' keys '*'", "--user default -a default keys '*'",
			"acl list", "client list", "monitor", "debug sleep 0", "save", "--scan", "-a foobared keys '*'", "shutdown nosave",
		} {
			scripts = append(scripts, "timeout 2 redis-cli -s "+socket+" "+args)
		}
		// Only in Redis itself: other test cases also name the setting.
		scripts = append(scripts, "ps -eo args= | grep 'redis-server.*requirepas[s]'")
		for i, got := range a.runAll(scripts) {
			if strings.Contains(got, a.id) || strings.Contains(got, "redis_version") || strings.Contains(got, "requirepass") || strings.TrimSpace(got) == "OK" {
				a.t.Errorf("%s was answered %.200q", scripts[i], got)
			}
		}
	})
}

// A process that leaves its group and session and removes its marker still ends with its
// parent's job.
func TestNothingOutlivesItsJob(t *testing.T) {
	t.Parallel()
	inEach(t, func(a *attacked, _ bool) {
		var scripts, lengths []string
		for i, spelling := range []string{
			"SLEEP &", "nohup SLEEP &", "setsid SLEEP &", "env -i SLEEP &", "setsid env -i SLEEP &", "env -i setsid SLEEP &", "setsid -f env -i SLEEP",
			"(setsid sh -c 'env -i SLEEP &' &)", "setsid sh -c 'setsid env -i SLEEP & exec true' &", "env -u RINGBACK_PROCESS setsid SLEEP &",
			"RINGBACK_PROCESS=another/1 setsid SLEEP &", "RINGBACK_PROCESS= setsid -f SLEEP", "sh -c 'trap \"\" TERM HUP INT; exec setsid env -i SLEEP' &",
			"setsid -f setsid -f setsid -f env -i SLEEP", "cd / && umask 0 && setsid -f env -i sh -c 'SLEEP; true' >/dev/null 2>&1",
		} {
			length := fmt.Sprintf("%d.%d", 100000+i, a.Cmd.Process.Pid)
			lengths = append(lengths, length)
			scripts = append(scripts, strings.ReplaceAll(spelling, "SLEEP", "sleep "+length+" </dev/null >/dev/null 2>&1")+"\n sleep 0.1")
		}
		a.runAll(scripts)
		for i, length := range lengths {
			harness.Eventually(a.t, "the end of "+scripts[i], func() bool { return !isRunning(length) })
		}
	})
}

// isRunning reports whether a process has this word in its command line.
func isRunning(word string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(lines, func(file string) bool {
		text, _ := os.ReadFile(file)
		return slices.Contains(strings.Split(string(text), "\x00"), word)
	})
}

// In a sandbox, an action can write only to its own directory.
func TestNothingIsWrittenOutsideTheRoom(t *testing.T) {
	t.Parallel()
	inEachSandbox(t, func(a *attacked) {
		base := filepath.Dir(a.Dir)
		var scripts []string
		for _, script := range []string{
			"echo x > BASE/out", "echo x > DATA/out", "echo x >> BASE/prompts/attack.md", "mkdir -p BASE/home/.ssh && echo x > BASE/home/.ssh/authorized_keys",
			"git config --global core.sshCommand x", "git config --system core.sshCommand x", "echo x > DATA/redis/redis.sock", "rm -rf DATA/redis DATA/nodes", "mv DATA DATA2",
			"ln -s BASE/out l; echo x > l", "ln DATA/redis/lock hard", "mount -o remount,rw /; echo x > BASE/out", "mount --bind / /mnt; echo x > /mnt/out",
			"unshare -Urm sh -c 'mount -o remount,rw /; echo x > BASE/out'", "echo x > /proc/1/root/BASE/out", "echo x > /proc/1/cwd/../out", "chmod 777 BASE; touch BASE/out",
			"echo x > /etc/out", "echo x > /usr/local/bin/out", "echo x > /dev/shm/../../BASE/out", "umount DATA; umount -l DATA; echo x > DATA/out", "touch $HOME/out", "echo x > BASE/readable/out", "echo x > BASE/writable/out",
		} {
			scripts = append(scripts, strings.NewReplacer("BASE", base, "DATA", a.Dir).Replace(script))
		}
		a.runAll(scripts)
		if _, err := os.Stat(base + "/writable/out"); (err == nil) != (a.place == inAction) {
			a.t.Errorf("what the action's kind says is writable by it, in this place: %v", err)
		}
		for _, place := range []string{base + "/readable/out", base + "/out", a.Dir + "/out", a.Dir + "2", base + "/home/.ssh", base + "/home/.gitconfig", base + "/home/out", "/etc/out", "/usr/local/bin/out", "/out", "/mnt/out"} {
			if _, err := os.Lstat(place); err == nil {
				a.t.Errorf("%s was written", place)
			}
		}
		if _, err := os.Stat(a.Dir + "/redis/lock"); err != nil {
			a.t.Error(err)
		}
		if text, err := os.ReadFile(base + "/prompts/attack.md"); err != nil || strings.HasSuffix(string(text), "x\n") {
			a.t.Errorf("the kind was changed: %v", err)
		}
	})
}

// In a sandbox, the server's directories, the home directory and its processes are hidden.
func TestNothingIsSeenOutsideTheRoom(t *testing.T) {
	t.Parallel()
	inEachSandbox(t, func(a *attacked) {
		base := filepath.Dir(a.Dir)
		var scripts []string
		for path, text := range map[string]string{
			filepath.Join(base, "home", ".netrc"): a.mark, filepath.Join(a.Dir, "nodes", "other"): a.mark, filepath.Join(base, ".env"): "LOG_FORMAT=" + a.mark,
		} {
			must.OK(a.t, os.WriteFile(path, []byte(text), 0o666))
		}
		for _, script := range []string{
			"cat BASE/home/.netrc", "cat ~/.netrc", "cat $HOME/.netrc", "find DATA", "cat DATA/nodes/other", "cat DATA/nodes/*/jobs/*/*", "find / -xdev -name redis.sock -path '*DATA*'",
			"ls DATA/redis", "cat DATA/redis/appendonlydir/*", "cat /proc/1/root/DATA/nodes/other", "cat /proc/*/cwd/../../../../nodes/other", "cd BASE/home && cat .netrc",
			"cat DATA/../data/nodes/other", "umount DATA; cat DATA/nodes/other", "unshare -Urm sh -c 'umount DATA; cat DATA/nodes/other'", "nsenter -t 1 -m cat DATA/nodes/other",
			"cat /proc/[0-9]*/environ",
		} {
			scripts = append(scripts, strings.NewReplacer("BASE", base, "DATA", a.Dir).Replace(script))
		}
		scripts = append(scripts, "kill -9 "+strconv.Itoa(a.Cmd.Process.Pid)+" 2>/dev/null; for p in /proc/[0-9]*; do echo $p; done | wc -l")
		said := a.runAll(scripts)
		for i, got := range said[:len(said)-1] {
			if strings.Contains(got, a.mark) || strings.Contains(got, "redis.sock\n") || strings.Contains(got, "appendonly.aof") {
				a.t.Errorf("%s shows %.200q", scripts[i], got)
			}
		}
		if n, err := strconv.Atoi(strings.TrimSpace(said[len(said)-1])); err != nil || n < 3 || n > 20 {
			a.t.Errorf("it sees %s processes", said[len(said)-1])
		}
		if status, _ := harness.Send(a.t, a.URL, harness.Request{Method: "GET", Path: "/healthz"}); status != 200 {
			a.t.Errorf("the server answers %d", status)
		}
	})
}
