package attack

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// ruled is a job of a kind with tool rules, for which the test plays Claude.
type ruled struct {
	*harness.Server
	id, hmac, dir string
}

func startRuled(t *testing.T, u harness.User, tools string) *ruled {
	t.Helper()
	dir := u.Dir(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "ruled.md"), []byte("---\ntools:\n"+tools+"---\nBe careful."), 0o600))
	u.Own(t, dir)
	r := &ruled{Server: harness.Start(t, harness.Vars{"PROMPTS_DIR": dir, "DATA_DIR": filepath.Join(dir, "data"), "HOME": dir, "HOLD": "0s"}, u.Run)}
	r.another(t)
	return r
}

// another starts another job.
func (r *ruled) another(t *testing.T) {
	t.Helper()
	id, envelope := r.Manual(t, nil, harness.Object{"kind": "ruled", "input": harness.Object{}, "userId": "u1"})
	r.id, r.hmac = id, envelope["hmac"].(string)
	r.dir = r.Dir
	err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && filepath.Base(filepath.Dir(path)) == id {
			r.dir = path
			return fs.SkipAll
		}
		return nil
	})
	must.OK(t, err)
}

// calls asks like the CLI's hook, and returns the decision and its reason.
func (r *ruled) calls(t *testing.T, tool string, input harness.Object) (decision, reason string) {
	t.Helper()
	answer := r.Want(t, 200, harness.Request{
		Method: "POST", Path: "/api/claude/tool-calls", Header: map[string]string{"X-Ringback-Request-Id": r.id, "X-Ringback-Signature": r.hmac},
		Body: harness.Object{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "toolu_1", "cwd": r.dir, "tool_input": input},
	})
	output, _ := answer["hookSpecificOutput"].(harness.Object)
	decision, _ = output["permissionDecision"].(string)
	reason, _ = output["permissionDecisionReason"].(string)
	return decision, reason
}

const allRules = `  ask: [Bash, Write, Grep, Glob, WebFetch]
  allow: [Read, 'Bash(ls *)', 'Bash(go test ./...)', 'Bash(git *)', 'Bash(gcc *)', 'Bash(go *)', 'Bash(tar *)', 'Write(docs/**)', 'WebFetch(domain:good.example)']
  deny: ['Bash(rm *)', 'Read(**/.env)', 'Read(//etc/**)', 'WebFetch(domain:evil.example)']
`

// A path may lead elsewhere if the server cannot look into all of its directories.
func TestWhatRulesAllowIsNoWayToMore(t *testing.T) {
	t.Parallel()
	harness.EachUser(t, allowNoMore)
}

func allowNoMore(t *testing.T, u harness.User) {
	r := startRuled(t, u, allRules)
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", r.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	u.Own(t, r.dir)
	docs := filepath.Join(r.dir, "docs")
	must.OK(t, os.MkdirAll(docs, 0o700))
	for name, target := range map[string]string{"passwd": "/etc/passwd", "docs/out": "..", "docs/etc": "/etc", "innocent": ".env", "loop": "loop", "docs/locked": "/root", "docs/proc": "/proc/1/cwd", "docs/again": "etc/.."} {
		must.OK(t, os.Symlink(target, filepath.Join(r.dir, name)))
	}
	if !u.Root() { // links that the server cannot read until a person allows the call
		if decision, _ := r.calls(t, "Write", harness.Object{"file_path": "docs/out/main.go"}); decision == "allow" {
			t.Error("what cannot be looked at is allowed")
		}
	}
	u.Own(t, docs)
	for _, c := range []struct{ tool, field, value string }{
		{"Bash", "command", "ls -la"},
		{"Bash", "command", "go test ./... 2>&1"},
		{"Bash", "command", "git status --short"},
		{"Bash", "command", "git ls-files -m src"},
		{"Write", "file_path", "docs/a.md"},
		{"Write", "file_path", filepath.Join(r.dir, "docs/a.md")},
		{"WebFetch", "url", "https://GOOD.example./"},
		{"Read", "file_path", "main.go"},
	} {
		if decision, reason := r.calls(t, c.tool, harness.Object{c.field: c.value}); decision != "allow" {
			t.Errorf("%s %s is answered %q %s", c.tool, c.value, decision, reason)
		}
	}
	for class, attack := range map[string]struct {
		tool, field string
		spellings   []string
	}{
		"syntax": {"Bash", "command", []string{
			"export PATH=.; ls", "declare -x PATH=.; ls", "typeset PATH=. && ls", "let 'a[$(id)]'; ls", "[[ -v 'a[$(id)]' ]]; ls", "((a[$(id)])); ls", "for i in a; do ls; done", "for ((;;)); do ls; done",
			"ls() { id; }; ls", "select PATH in .; do ls; done", "coproc ls", "ls ${a[$(id)]}", "ls $(id)", "ls <(id)", "ls <<X\n$(id)\nX", "ls > .bashrc", "ls < /dev/tcp/evil.example/80", "a=$(id) ls", "ls\r\nid", "ls\u2028id",
		}},
		"programs": {"Bash", "command", []string{
			"./evil/go test", "./go test", "../go test", "$'./go' test", "\"./go\" test", "/tmp/go test", "~/go test", "evil/../go test", "'go test'", "GO test", "go test -exec ./evil", "go test --toolexec=./evil ./...", "go -C evil test",
		}},
		"wrappers": {"Bash", "command", []string{
			"git -c alias.x='!id' x", "git -c core.pager=id log", "git --exec-path=. log", "git -C evil status", "git evil", "git config core.fsmonitor ./evil", "git rebase -x id", "git fetch --upload-pack ./evil", "git grep -O./evil a",
			"tar cf a --checkpoint=1 --checkpoint-action=exec=id .", "tar xf a --to-command=id", "tar cf a -I ./evil .", "tar cf a *", "tar xf a --use-comp=./evil", "gcc @file", "gcc -B. a.c", "go fix -fixtool=./evil", "go vet -vettool=./evil", "go version", "git commit -m x", "git log --format=%G?", "git fetch", "git -c core.alternateRefsCommand=./evil log", "taskset 1 id", "hash -p ./evil ls; ls", "enable -f ./x ls", "env ls", "ls | xargs id", "eval ls",
		}},
		"files": {"Write", "file_path", []string{
			"docs/../main.go", "./docs/../../x", "docs/out/main.go", "docs/etc/cron.d/x", "Docs/a", "DOCS/a", "docs\\..\\a", " docs/a", "docs/a ", "~/docs/a", "~root/docs/a", "/docs/a", "file:///docs/a", "$HOME/docs/a", "docs/../docs/out/a", "main.go", "loop", "docs/locked/a", "docs/locked/../root/a", "docs/proc/root/a", "docs/locked", "docs/again/etc/x", "docs/again/x", "docs/etc/../x",
		}},
		"secrets": {"Read", "file_path", []string{
			".env", "./.env", ".ENV", "a/../.env", "a//.env", "innocent", ".env ", "~/.env", "passwd", "/etc/passwd", "/etc/../etc/shadow", "//etc/passwd", "docs/etc/shadow", "docs/out/.env", "/ETC/passwd", "loop",
		}},
		"searches": {"Grep", "path", []string{"", ".", "docs", "docs/etc", "/etc", "/", "..", "~", "docs/..", "docs/out", ".env", "docs/locked", "docs/locked/.ssh", "docs/proc"}},
		"addresses": {"WebFetch", "url", []string{
			"https://good.example@evil.example/", "https://good.example.evil.example/", `https://evil.example\@good.example/`, `https:\\evil.example`, "https://evil.example./", "https://ｅvil.example/", "//good.example/", "https:good.example",
			"ftp://good.example/", "file://good.example/etc/passwd", "https://www.good.example/", "https://good%2eexample/", "https://good.example..", "https://good.example:443@evil.example", "https://good.example\t.evil.example", "http://good。example/",
		}},
	} {
		for _, spelling := range attack.spellings {
			if decision, _ := r.calls(t, attack.tool, harness.Object{attack.field: spelling}); decision == "allow" {
				t.Errorf("%s: %s %q is allowed", class, attack.tool, spelling)
			}
		}
	}
}

// git runs commands from the configuration of the repository that it finds, which Claude
// may have written.
func TestARepositoryThatClaudeWroteIsNoWayToMore(t *testing.T) {
	t.Parallel()
	r := startRuled(t, harness.Ordinary(), "  ask: [Bash]\n  allow: ['Bash(git *)']\n")
	const status = "git status"
	judged := func(what string) {
		if decision, _ := r.calls(t, "Bash", harness.Object{"command": status}); decision == "allow" {
			t.Errorf("%s: %s is allowed", what, status)
		}
	}
	judged("no repository")
	for _, file := range []string{"HEAD", "config", "objects/x", "refs/x"} { // which Claude may write there without approval
		if decision, reason := r.calls(t, "Write", harness.Object{"file_path": file}); decision != "allow" {
			t.Errorf("Write %s is answered %q %s", file, decision, reason)
		}
		path := filepath.Join(r.dir, file)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, []byte("[core]\n\tbare = true\n\tfsmonitor = ./evil\n\talternateRefsCommand = ./evil\n"), 0o644))
	}
	judged("a bare repository")
}

func TestWhatIsDeniedIsDeniedHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	harness.EachUser(t, denyAll)
}

func denyAll(t *testing.T, u harness.User) {
	r := startRuled(t, u, "  allow: [Bash, Read, WebFetch]\n  deny: ['Bash(rm *)', 'Read(**/.env)', 'WebFetch(domain:evil.example)']\n")
	for _, c := range []struct {
		tool, field string
		spellings   []string
	}{
		{"Bash", "command", []string{
			"rm x", "/bin/rm x", "./rm x", "r\\m x", "'rm' x", "$'\\x72\\x6d' x", "\"r\"m x", "ls; rm x", "ls && (rm x)", "x=$(rm x)", "for f in a; do rm $f; done", "f() { rm x; }; f", "[[ -n $(rm x) ]]", "RM x", "export A=$(rm x)",
		}},
		{"Read", "file_path", []string{".env", "a/.env", "/x/.env", "../.env", "a/../.env", ".//.env", ".ENV", "~/.env", "/.env", "./a/./.env"}},
		{"WebFetch", "url", []string{
			"https://evil.example", "http://evil.example:8080/", "https://EVIL.example/", "https://evil.example./", "https://a:b@evil.example/", "https://good.example@evil.example/", "HTTPS://evil.EXAMPLE", "https://evil.example?x", "https://evil.example#x", "http://evil.example.:80",
		}},
	} {
		for _, spelling := range c.spellings {
			decision, reason := r.calls(t, c.tool, harness.Object{c.field: spelling})
			if decision != "deny" || !strings.HasPrefix(reason, "This job may not do that") {
				t.Errorf("%s %q is answered %q %s", c.tool, spelling, decision, reason)
			}
		}
	}
}

// A standing yes to one command, given because it looked harmless, allows no other.
func TestAStandingYesOpensNothingElse(t *testing.T) {
	t.Parallel()
	r := startRuled(t, harness.Ordinary(), "  ask: [Bash]\n  deny: ['Bash(rm *)']\n")
	const harmless = "FOO=1 make"
	if decision, _ := r.calls(t, "Bash", harness.Object{"command": harmless}); decision != "defer" {
		t.Fatalf("it was answered %q", decision)
	}
	open := r.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints?status=open&userId=u1"})["checkpoints"].([]any)[0].(harness.Object)
	shown := open["props"].(harness.Object)["rule"]
	const input = `{"command":"` + harmless + `"}`
	where := ` in the directory "` + r.dir + `"`
	if shown != "Bash: "+input+where || !strings.Contains(open["message"].(string), "if its input is exactly this one: "+input+where+".") {
		t.Errorf("the person is shown %v in %v", shown, open["message"])
	}
	reply := harness.Request{Method: "POST", Path: "/api/checkpoints/" + open["id"].(string) + "/reply", Body: harness.Object{"decision": "approve", "scope": "always", "values": harness.Object{"command": "id"}}}
	r.Want(t, 400, reply)
	reply.Body = harness.Object{"decision": "approve", "scope": "always"}
	r.Want(t, 200, reply)
	if stored := r.Want(t, 200, harness.Request{Method: "GET", Path: "/api/approvals?userId=u1"})["approvals"].([]any); len(stored) != 1 || stored[0].(harness.Object)["rule"] != shown {
		t.Errorf("the person was shown %v, stored is %v", shown, stored)
	}
	for range 2 {
		r.another(t)
		if decision, reason := r.calls(t, "Bash", harness.Object{"command": harmless}); decision != "allow" {
			t.Errorf("the same is answered %q %s", decision, reason)
		}
	}
	for _, command := range []string{
		`sh -c "rm -rf x"`, "FOO=2 make", "FOO=1 make ", "FOO=1 make all", "FOO=1 make; id", "FOO=1  make", "BAR=1 make", "make", "FOO=1 sh", "FOO=1 make\nid", "$x", "eval id", "FOO=$(id) make", "touch x", "FOO=1 make & id", "'FOO=1 make'",
	} {
		if decision, _ := r.calls(t, "Bash", harness.Object{"command": command}); decision == "allow" {
			t.Errorf("%q is allowed, too", command)
		}
	}
	for name, value := range map[string]any{"dangerouslyDisableSandbox": true, "description": "Builds it", "timeout": 600000, "run_in_background": true} {
		if decision, _ := r.calls(t, "Bash", harness.Object{"command": harmless, name: value}); decision == "allow" {
			t.Errorf("the same with %s is allowed, too", name)
		}
	}
	for _, command := range []string{"Bash: " + input, input} {
		if decision, _ := r.calls(t, "Bash", harness.Object{"command": command}); decision == "allow" {
			t.Errorf("the text of the rule as a command, %q, is allowed, too", command)
		}
	}
}
