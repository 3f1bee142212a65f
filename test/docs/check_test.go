package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

func TestCheckFindsWhatTheSetupLacks(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "own.md", `---
actions:
  - name: deploy
    command: [./deploy.sh]
    env: {TOKEN: '${DEPLOY_TOKEN} ${HOME}'}
  - name: missing
    command: [no-such-program, -x]
  - name: plain
    command: [./plain.txt]
---
Do it.`)
	for name, mode := range map[string]os.FileMode{"plain.txt": 0o600} {
		must.OK(t, os.WriteFile(filepath.Join(prompts, name), []byte("#!/bin/sh\n"), mode))
	}
	file := filepath.Join(prompts, "own.md")
	evicting := rig.StartRedis(t)
	if out, err := exec.Command("redis-cli", "-u", evicting.URL, "config", "set", "maxmemory-policy", "allkeys-lru").CombinedOutput(); err != nil {
		t.Fatalf("redis-cli: %v %s", err, out)
	}
	const starts = `[ "$1" = --version ] && { echo "2.1 (Claude)"; exit; }; `
	cli := rig.Program(t, starts+`echo '{"type":"system"}'`)
	signedOut := rig.Program(t, `case "$*" in "auth status") echo '{"loggedIn":false}'; exit 1 ;; esac; echo "2.1 (Claude)"`)
	repository := filepath.Join(t.TempDir(), "shop.git")
	must.OK(t, exec.Command("git", "init", "--quiet", "--bare", repository).Run())
	const brought = "---\nallowed_tools: ['Bash(npm run *)']\ntools: {allow: ['Bash(go test *)', 'Bash(ls *)', 'Bash(make check)', Bash], deny: ['Bash(rm *)']}\n---\nHello."
	for name, c := range sample.Cases(t, 15, map[string]struct {
		env  vars
		code int
		says []string
	}{
		"programs and variables": {vars{"PROMPTS_DIR": prompts}, 1, []string{
			"problem  " + file + ":4: actions: deploy: command: " + prompts + "/deploy.sh is not there",
			"problem  " + file + ":5: actions: deploy: env: TOKEN: ${DEPLOY_TOKEN} is not set",
			"problem  " + file + ":7: actions: missing: command: no-such-program is not on PATH",
			"problem  " + file + ":9: actions: plain: command: " + prompts + "/plain.txt is not executable",
		}},
		"a Redis that is away": {vars{"REDIS_URL": "redis://:s3cret-word@127.0.0.1:1"}, 1, []string{"problem  REDIS_URL: the Redis at 127.0.0.1:1 does not answer"}},
		"a Redis that forgets": {vars{"REDIS_URL": evicting.URL}, 1, []string{"maxmemory-policy allkeys-lru): set it to noeviction"}},
		"a CLI that fails":     {vars{"CLAUDE_BIN": rig.Program(t, `echo "no such library" >&2; exit 127`)}, 1, []string{"--version ended with exit code 127: no such library"}},
		"a CLI that answers": {vars{"SANDBOX": "off", "CLAUDE_BIN": cli}, 0, []string{
			": 2.1 (Claude) (this version of Ringback was tested with ", "ok       the CLI starts without a sandbox",
		}},
		"a CLI that does not start in the sandbox": {vars{"SANDBOX": "require", "CLAUDE_BIN": rig.Program(t, starts+`echo "no such library" >&2; exit 1`)}, 1, []string{
			"ok       a program in the sandbox has called back", "problem  the CLI does not start in the sandbox: ", "no such library", "Install a version that does",
		}},
		"no program to call back with": {vars{"CLAUDE_BIN": cli, "PATH": rig.PathWithout(t, "curl")}, 1, []string{"problem  curl is not on PATH, and Claude calls back with it: install curl"}},
		"a server that is not there":   {vars{"SANDBOX": "off", "CALLBACK_BASE_URL": "http://127.0.0.1:1"}, 0, []string{"note     CALLBACK_BASE_URL http://127.0.0.1:1: no server answers there now"}},
		"another server":               {vars{"SANDBOX": "off", "CALLBACK_BASE_URL": rig.StartHTTP(t, http.NotFoundHandler())}, 1, []string{"something other than Ringback answers there (404 Not Found)"}},
		"a repository that git reaches": {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nworkspace: {repositories: [{url: '"+repository+"'}]}\n---\nHello.")}, 0, []string{
			"ok       git reaches the repository shop",
		}},
		"a repository that it does not": {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nworkspace: {repositories: [{url: 'https://git:s3cret-word@127.0.0.1:1/shop.git'}]}\n---\nHello.")}, 1, []string{
			"problem  git does not reach the repository shop: git ls-remote: fatal: ", "a credential helper", "note     no job was tried: solve the problems above",
		}},
		"receivers that are not asked": {vars{"WEBHOOK_URL": "http://127.0.0.1:1"}, 0, []string{"note     receivers of notifications were not tried: ringback check --notify"}},
		"operators elsewhere":          {vars{"OPERATOR_LISTEN_ADDR": "0.0.0.0:9464", "OPERATOR_REMOTE": "true"}, 0, []string{"note     OPERATOR_LISTEN_ADDR 0.0.0.0:9464 asks for no key: let only those machines reach it that watch this server"}},
		"operators elsewhere, unsaid":  {vars{"OPERATOR_LISTEN_ADDR": ":9464"}, 2, []string{"OPERATOR_LISTEN_ADDR :9464 can be reached from other machines, and asks for no key: listen on 127.0.0.1, or keep others away by a firewall"}},
		"a disk":                       {vars{}, 0, []string{"ok       DATA_DIR ", " MiB are free"}},
		"an origin with a slash": {vars{"CORS_ORIGINS": "https://app.example/,https://b.example"}, 2, []string{
			`CORS_ORIGINS: "https://app.example/" is not an origin: expected scheme://host[:port] and nothing after it`,
		}},
		"an embedded store":           {vars{}, 0, []string{"ok       embedded store: redis-server "}},
		"a sandbox":                   {vars{"SANDBOX": "require"}, 0, []string{"ok       sandbox: bubblewrap"}},
		"limits without a sandbox":    {vars{"SANDBOX": "off", "PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nlimits: {processes: 99}\n---\nHello.")}, 0, []string{"note     the kind own limits processes, which has no effect without a sandbox"}},
		"wrong limits":                {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nlimits: {memory: 4GB}\n---\nHello.")}, 1, []string{"found 4GB; expected a size such as 512MiB or 4GiB"}},
		"a misspelt tool":             {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\ntools: {deny: [Wrte]}\n---\nHello.")}, 1, []string{"tools: Wrte: no tool has that name; did you mean Write?"}},
		"a misspelt tool elsewhere":   {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nallowed_tools: [WebFech]\n---\nHello.")}, 1, []string{"allowed_tools: WebFech: no tool has that name; did you mean WebFetch?"}},
		"a tool that may be new":      {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\ntools: {deny: [Teleport]}\n---\nHello.")}, 0, []string{"note     the kind own: the CLI probably has no tools of these names: Teleport"}},
		"a question that leaves out":  {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nactions:\n  - name: pay\n    question: 'Pay \"{{input.name}}\"{{input.to.iban}}?'\n    input: {type: object, properties: {name: {}, amount: {}, to: {properties: {iban: {}}}}}\n    command: [echo]\n---\nHello.")}, 0, []string{"own.md:4: actions: pay: the question does not contain amount: people who answer yes in words are asked again"}},
		"rules that give away":        {vars{"SANDBOX": "require", "PROMPTS_DIR": rig.KindsDir(t, "own.md", brought)}, 0, []string{"note     the kind own: these programs may run others, for which no deny or ask rule of a command then holds: Bash(go test *), Bash(npm run *)\n"}},
		"allowed tools that are none": {vars{"SANDBOX": "off", "PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nallowed_tools: ['WebFetch(example.com)']\n---\nHello")}, 0, []string{"note     the kind own: allowed_tools: WebFetch(example.com): the pattern can never match"}},
		"rules that allow nothing":    {vars{"SANDBOX": "off", "PROMPTS_DIR": rig.KindsDir(t, "own.md", brought)}, 0, []string{"note     the kind own: these rules allow nothing without a sandbox, since the programs may run others: Bash(go test *), Bash(npm run *)\n"}},
		"no sandbox":                  {vars{"PATH": rig.PathWithout(t, "bwrap"), "PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nnetwork: none\n---\nHello.")}, 0, []string{"note     sandbox: none: bwrap is not on PATH: install bubblewrap", "note     the kind own limits the hosts that it reaches (network), which has no effect without a sandbox"}},
		"a sandbox that is asked for": {vars{"SANDBOX": "require", "PATH": rig.PathWithout(t, "bwrap")}, 1, []string{"problem  SANDBOX=require: bwrap is not on PATH: install bubblewrap"}},
		"a sandbox turned off":        {vars{"SANDBOX": "off"}, 0, []string{"note     sandbox: off (SANDBOX=off)"}},
		"a key of the server's": {vars{"SANDBOX": "require", "CLAUDE_BIN": cli, "ANTHROPIC_API_KEY": "s3cret-word"}, 0, []string{
			"ok       the server signs in at api.anthropic.com; no job sees the credential",
		}},
		"a login": {vars{"SANDBOX": "require", "CLAUDE_BIN": cli, "CLAUDE_CONFIG_DIR": "/no/such/dir"}, 0, []string{
			"note     the CLI signs in by itself (the login of its user in /no/such/dir): programs of a job can read that credential", "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN for the server alone",
		}},
		"nothing to sign in with": {vars{"SANDBOX": "require", "CLAUDE_BIN": signedOut}, 1, []string{"problem  Claude is not signed in: set ANTHROPIC_API_KEY"}},
		"a token of a login":      {vars{"SANDBOX": "require", "CLAUDE_BIN": cli, "CLAUDE_CODE_OAUTH_TOKEN": "s3cret-word"}, 0, []string{"signs in by itself (CLAUDE_CODE_OAUTH_TOKEN)"}},
		"a cloud": {vars{"SANDBOX": "require", "CLAUDE_BIN": cli, "CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_API_KEY": "s3cret-word"}, 0, []string{
			"signs in by itself (CLAUDE_CODE_USE_BEDROCK)", "of a gateway that signs",
		}},
		"settings of its user": {vars{"SANDBOX": "require", "CLAUDE_BIN": cli, "CLAUDE_CONFIG_DIR": rig.KindsDir(t, "settings.json", `{"env":{"ANTHROPIC_API_KEY":"s3cret-word"}}`)}, 0, []string{
			"signs in by itself (ANTHROPIC_API_KEY of its user's settings.json)",
		}},
		"a key without a sandbox":  {vars{"SANDBOX": "off", "CLAUDE_BIN": cli, "ANTHROPIC_API_KEY": "s3cret-word"}, 0, []string{"note     without a sandbox, the CLI signs in by itself"}},
		"a word for a sandbox":     {vars{"SANDBOX": "yes"}, 2, []string{`SANDBOX "yes": expected auto, require or off`}},
		"a place that depends":     {vars{"SANDBOX_READABLE": "tools"}, 2, []string{`SANDBOX_READABLE: "tools" is not an absolute path`}},
		"a kind that only answers": {vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "Answer.")}, 0, []string{"note     callback: mcp fits these kinds, and takes about half the rounds", ": own"}},
		"without callbacks":        {vars{"USE_CALLBACK_CLAUDE": "false"}, 0, []string{"note     USE_CALLBACK_CLAUDE=false: jobs of the kind ship are refused, because it works by callbacks (actions)"}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, _ := rig.Ringback(t, c.env, "check")
			must.Equal(t, c.code, code, "exit code")
			for _, want := range c.says {
				must.Contain(t, out, want)
			}
			if t.Failed() || strings.Contains(out, "s3cret-word") {
				t.Errorf("says %s", out)
			}
		})
	}
}

// A command's path is relative to the kind's directory, not to where the server started.
func TestActionsRunProgramsBesideTheirKind(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "own.md", "---\nactions:\n  - name: go\n    confirm: never\n    command: [./bin/go.sh]\n---\nGo.")
	must.OK(t, os.MkdirAll(filepath.Join(prompts, "bin"), 0o700))
	program := `#!/bin/sh
echo "{\"kindDir\": \"$RINGBACK_KIND_DIR\", \"self\": \"$0\", \"work\": \"$(pwd)\"}"`
	harness.WriteProgram(t, filepath.Join(prompts, "bin", "go.sh"), []byte(program))
	n := rig.Start(t, vars{"PROMPTS_DIR": prompts})
	_, envelope := n.Manual(t, object{"kind": "own", "userId": "u1", "input": object{}})
	result := n.Want(t, 200, "POST", "/api/claude/actions/go", rig.With(envelope, object{"input": object{}}))
	if result["status"] != "success" || result["kindDir"] != prompts || result["self"] != filepath.Join(prompts, "bin", "go.sh") || result["work"] == prompts {
		t.Errorf("answered %v", result)
	}
}

// What a start warns of or refuses, ringback check says too, in the same words.
func TestCheckAndServeSayTheSameOfSettings(t *testing.T) {
	t.Parallel()
	long := rig.KindsDir(t, "own.md", "---\nmax_attempts: 1\n---\nDo it.")
	properties := object{}
	for i := range 1000 {
		properties["p"+strconv.Itoa(i)] = object{"type": "string", "description": strings.Repeat("d", 180)}
	}
	must.OK(t, os.WriteFile(filepath.Join(long, "own.result.json"), must.Get(json.Marshal(object{"type": "object", "properties": properties}))(t), 0o600))
	const hook = "WEBHOOK_SECRET: write whsec_ in small letters, with nothing before it"
	for name, c := range sample.Cases(t, 6, map[string]struct {
		env     vars
		file    string
		refused bool
		says    string
		ready   bool // /readyz says it, too
	}{
		"a misspelt variable":            {env: vars{"HUMAN_TIMOUT": "1h"}, says: "HUMAN_TIMOUT is not a setting, so it has no effect: did you mean HUMAN_TIMEOUT?", ready: true},
		"a prefix before a setting":      {env: vars{"RINGBACK_WORKERS": "1"}, says: "RINGBACK_WORKERS is not a setting, so it has no effect: did you mean WORKERS?", ready: true},
		"a setting of a later version":   {file: "SMTP_URL=smtp://x\n", says: "SMTP_URL is set, but this version has no such setting", ready: true},
		"nobody's variable in .env":      {file: "NOBODYS=x\n", says: "sets what neither Ringback nor anything that it starts reads: NOBODYS"},
		"a misspelt variable in .env":    {file: "BUDGET_USD_DAY=5\n", refused: true, says: "BUDGET_USD_DAY is not a setting, so it has no effect: did you mean BUDGET_USD_PER_DAY?"},
		"a variable that is there twice": {file: "HOLD=1s\nHOLD=2s\n", refused: true, says: "HOLD is set in line 1 and again in line 2"},
		"a file of keys that is not":     {env: vars{"API_KEYS_FILES": "/keys"}, refused: true, says: "did you mean API_KEYS_FILE? Without a key or a secret, the server would be open"},
		"a key with a space":             {env: vars{"API_KEYS": "0f1e2d3c4b5a6978,0f1e2d3c 4b5a6978"}, refused: true, says: "API_KEYS, key 2: it contains a space"},
		"a secret with its version":      {env: vars{"WEBHOOK_SECRET": "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, refused: true, says: hook},
		"a price list that is not there": {env: vars{"PRICES_FILE": "/no/such/file"}, refused: true, says: "PRICES_FILE /no/such/file: open /no/such/file: no such file"},
		"a port that is none":            {env: vars{"LISTEN_ADDR": "127.0.0.1:99999"}, refused: true, says: `LISTEN_ADDR "127.0.0.1:99999": expected host:port`},
		"an address of another machine":  {env: vars{"CALLBACK_LISTEN_ADDR": "192.0.2.1:3002"}, refused: true, says: "CALLBACK_LISTEN_ADDR 192.0.2.1:3002: this machine has no such address"},
		"a schema longer than a command line": {
			env: vars{"USE_CALLBACK_CLAUDE": "false", "PROMPTS_DIR": long, "SCHEMAS_DIR": long}, says: "own.md: the schema of the result, as the CLI gets it with USE_CALLBACK_CLAUDE=false, has ",
		},
		"a script beside the kind": {
			env: vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nactions: [{name: pay, command: [sh, ./pay.sh]}]\n---\nPay.")}, says: "actions: pay: command: ./pay.sh is looked for in the job's directory",
		},
		"a review of nothing": {env: vars{"PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\nreview: true\n---\nHello.")}, says: "only a kind with a workspace has changes to review, so this has no effect: review"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := rig.DotenvDir(t, c.file)
			for _, command := range []string{"check", "serve"} {
				if command == "serve" && !c.refused {
					break
				}
				cmd := exec.Command(harness.Binary(), command)
				cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "DATA_DIR=" + t.TempDir(), "CLAUDE_BIN=simulate", "LISTEN_ADDR=127.0.0.1:0"}
				for name, value := range c.env {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
				out, err := cmd.CombinedOutput()
				must.Contain(t, string(out), c.says, command)
				must.Equal(t, false, c.refused && err == nil, command+" succeeds")
			}
			if c.refused {
				return
			}
			n := rig.StartIn(t, dir, c.env)
			must.Contain(t, n.Log.String(), c.says, "the start")
			_, answer := n.Ready(t)
			must.Equal(t, c.ready, strings.Contains(fmt.Sprint(answer["warnings"]), c.says), "said by /readyz", answer)
		})
	}
}

// What reaches people, or costs money, is tried if that is asked for.
func TestCheckCallsOthersOnlyIfItIsAsked(t *testing.T) {
	t.Parallel()
	hook, slack := rig.StartHook(t), make(chan string, 1)
	says := func(result string) string {
		return rig.Program(t, harness.AnswersVersion+harness.AnswersTrial+`cat > /dev/null; echo '{"type":"system","subtype":"init"}'; echo '`+result+`'`)
	}
	answered := says(`{"type":"result","subtype":"success","is_error":false,"result":"OK","total_cost_usd":0.0123,"usage":{"input_tokens":5000,"output_tokens":4}}`)
	env := vars{
		"SANDBOX": "off", "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.Secret, "CLAUDE_BIN": answered,
		"SLACK_WEBHOOK_URL": rig.StartHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			slack <- string(text)
		})),
	}
	code, out, _ := rig.Ringback(t, env, "check")
	must.Equal(t, 0, code, out)
	must.NotContain(t, out, "the model has")
	must.Equal(t, 0, len(slack), "messages to Slack")

	code, out, _ = rig.Ringback(t, env, "check", "--live", "--notify", "--output", "json")
	must.Equal(t, 0, code, out)
	var report struct {
		Problems int
		Findings []struct{ Check, Result, Text string }
	}
	must.OK(t, json.Unmarshal([]byte(out), &report), out)
	found := map[string]string{}
	for _, f := range report.Findings {
		found[f.Check] += f.Result + " " + f.Text + "\n"
	}
	must.Contain(t, found["notifications"], "ok WEBHOOK_URL: 127.0.0.1:")
	must.Contain(t, found["notifications"], "ok SLACK_WEBHOOK_URL: 127.0.0.1:")
	must.Contain(t, found["jobs"], ": 5000 tokens in, 4 out, $0.0123")
	must.Equal(t, any("test"), hook.Next(t)["type"], "the webhook")
	must.Contain(t, <-slack, "This is a test message of ringback check", "Slack")

	for name, c := range map[string]struct {
		env  vars
		args []string
		says string
	}{
		"a receiver that refuses": {vars{"SLACK_WEBHOOK_URL": rig.StartHTTP(t, http.NotFoundHandler())}, []string{"--notify"}, "problem  SLACK_WEBHOOK_URL: the test message was not accepted: 127.0.0.1:"},
		"a model that refuses":    {vars{"CLAUDE_BIN": says(`{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}`)}, []string{"--live"}, "problem  the model did not answer: "},
		"no CLI":                  {vars{"CLAUDE_BIN": "simulate"}, []string{"--live"}, "note     --live: no Claude CLI is installed"},
	} {
		maps.Copy(c.env, vars{"SANDBOX": "off"})
		_, out, _ := rig.Ringback(t, c.env, append([]string{"check"}, c.args...)...)
		must.Contain(t, out, c.says, name)
	}
}

// The real CLI makes a single request, through the server that counts it.
func TestCheckAsksTheModelOnce(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	bin := messagesapi.FindCLI(t)
	api := messagesapi.Start(t, func(messagesapi.Request) messagesapi.Reply { return messagesapi.Say("OK") })
	env := vars{"SANDBOX": "require", "CLAUDE_BIN": bin}
	for _, entry := range api.Env(t) {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	code, out, _ := rig.Ringback(t, env, "check", "--live")
	must.Equal(t, 0, code, out)
	must.Contain(t, out, "ok       the CLI starts in the sandbox")
	must.Contain(t, out, "ok       the model has answered in ")
	must.Equal(t, 1, len(api.Requests()), "requests to the model")
}

// Ctrl-C leaves nothing behind: neither the turn that asks the model, nor files.
func TestACheckIsInterrupted(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	turn := filepath.Join(t.TempDir(), "turn")
	bin := rig.Program(t, `[ "$1" = --version ] && exec echo "2.1 (Claude)"; [ "$1" = auth ] && exit
echo '{"type":"system"}'; [ -e `+turn+`.tried ] && touch `+turn+`; touch `+turn+`.tried; exec sleep 600`)
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "check", "--live")
	cmd.Dir, cmd.Env = t.TempDir(), []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + tmp, "SANDBOX=off", "CLAUDE_BIN=" + bin,
	}
	must.OK(t, cmd.Start())
	must.Eventually(t, "the model to be asked", func() bool { _, err := os.Stat(turn); return err == nil })
	must.OK(t, cmd.Process.Signal(os.Interrupt))
	must.Fail(t, cmd.Wait(), "exit status 1")
	must.Equal(t, 0, len(harness.ProcessesUnder(tmp)), "processes")
	must.Equal(t, 0, len(must.Get(os.ReadDir(tmp))(t)), "files for this check")
}

// A job of a check sees as little of the installation as others.
func TestAJobOfACheckDoesNotSeeTheStore(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.Abs(must.Get(os.MkdirTemp(".", "data-"))(t)))(t) //nolint:usetesting // every sandbox has a /tmp of its own
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.OK(t, os.Chmod(dir, 0o755)) // as root, the server runs jobs as another user
	must.OK(t, os.WriteFile(filepath.Join(dir, "private"), nil, 0o644))
	bin := rig.Program(t, `[ "$1" = --version ] && exec echo "2.1 (Claude)"; [ "$1" = auth ] && exit
echo "it sees: $(ls `+dir+`)." >&2; exit 1`)
	_, out, _ := rig.Ringback(t, vars{"SANDBOX": "require", "CLAUDE_BIN": bin, "DATA_DIR": dir}, "check")
	must.Contain(t, out, "it sees: .")
}
