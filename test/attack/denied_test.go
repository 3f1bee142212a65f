package attack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// deniedText is the content of the files that must not be read, and of nothing else.
const deniedText = "planted-DENIED"

// readings try to read .env, sub/.env and soft, which is a link.
var readings = []string{
	"cat .env", "cat ./sub/.env", "cat soft", "cat hard", "cat .e*", "cat /proc/self/cwd/.env", "cat \"$PWD/sub/../.env\"", "cp .env copy; cat copy; rm -f copy", "ln .env other; cat other; rm -f other",
	"tar cf - . | cat", "grep -r planted .", "find / -name .env -exec cat {} +", "bash -c 'echo $(<.env)'", ". ./.env; echo $KEY", "while read -r line; do echo $line; done < sub/.env", "cat /proc/*/root$PWD/.env",
	"chmod 777 .env; cat .env", "umount .env; cat .env", "unshare -rm sh -c 'umount .env; cat .env'", "mkdir room; mount --bind . room; cat room/.env",
	"mv sub below; cat below/.env", "mv .env moved; cat moved",
}

// wantUnread fails the test if the output of the readings contains what they must not read.
func wantUnread(t *testing.T, from place, said []string) {
	t.Helper()
	for i, text := range said[:len(readings)] {
		if strings.Contains(text, deniedText) {
			t.Errorf("%s has read it by %q: %q", from, readings[i], text)
		}
	}
	if !strings.Contains(said[len(readings)], "to be read") {
		t.Errorf("%s could not read what is not denied: %q", from, said[len(readings)])
	}
}

// What a kind denies to be read cannot be read by its verifiers, which run what Claude
// wrote, or by its actions' commands.
func TestWhatIsDeniedIsReadByNoOtherProgram(t *testing.T) {
	t.Parallel()
	tools := "tools: {allow: [Bash], deny: ['Read(**/.env)']}\n"
	scripts := append(readings, "cat open") //nolint:gocritic // another slice
	for name, ordinary := range sample.Cases(t, 1, map[string]bool{"root": false, "an ordinary user": true}) {
		t.Run("verifiers of "+name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, ordinary)
			writeDenied(t, dir)
			a := attackKind(t, ordinary, harness.Vars{"SANDBOX": "require"}, rules{change: tools + "workspace: {repositories: [{url: '" + dir + "'}]}\nverifiers: [{name: attack, command: UP=$PPID sh attack.sh}]\n"})
			a.place = inVerifier
			wantUnread(t, a.place, a.runAll(scripts))
		})
		t.Run("actions of "+name, func(t *testing.T) {
			t.Parallel()
			a := attackKind(t, ordinary, harness.Vars{"SANDBOX": "require"}, rules{kind: tools})
			a.place = inTurn
			wantUnread(t, inAction, a.runByAction(scripts))
		})
	}
}

// writeDenied commits denied and allowed files to a repository.
func writeDenied(t *testing.T, dir string) {
	t.Helper()
	script := "mkdir sub && echo KEY=" + deniedText + " | tee .env > sub/.env && ln -s .env soft && echo to be read > open && git -c safe.directory='*' add -f . && git -c safe.directory='*' -c user.name=u -c user.email=u@example.com commit --quiet -m Files"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
}

// runByAction makes a turn write files and call the action, which works in the same
// directory, and returns the output of each script.
func (a *attacked) runByAction(scripts []string) (said []string) {
	a.t.Helper()
	var all strings.Builder
	for _, script := range scripts {
		fmt.Fprintf(&all, "sh -c \"$(echo %s | base64 -d)\" 2>&1 </dev/null | grep -a -o -m9 -e %s -e 'to be read' | base64 -w0; echo\n", base64.StdEncoding.EncodeToString([]byte(script)), deniedText)
	}
	inner := "echo " + base64.StdEncoding.EncodeToString([]byte(all.String())) + " | base64 -d | sh 2>&1 | base64 -w0 | sed 's/^/{\"out\":\"/; s/$/\"}/'"
	input, err := json.Marshal(harness.Object{"script": inner})
	must.OK(a.t, err)
	answer := a.runInJob(`prompt=$(dirname "$0")/prompt
value() { sed -n "s/^- $1: //p" "$prompt" | tail -1; }
mkdir sub; echo KEY=` + deniedText + ` | tee .env > sub/.env; ln -s .env soft; ln .env hard; echo to be read > open
printf '{"requestId":"%s","hmac":"%s","input":' "$(value REQUEST_ID)" "$(value HMAC_SIGNATURE)" > call
echo ` + base64.StdEncoding.EncodeToString(input) + ` | base64 -d >> call; echo '}' >> call
while curl -sS "$(value CALLBACK_BASE_URL)/api/claude/actions/attack" -H 'Content-Type: application/json' -d @call -o answer && grep -q '"status": *"running"' answer; do :; done
base64 -w0 answer`)
	var result struct{ Out string }
	if err := json.Unmarshal([]byte(answer), &result); err != nil {
		a.t.Fatalf("the action was answered %s: %v", answer, err)
	}
	text, err := base64.StdEncoding.DecodeString(result.Out)
	if err != nil {
		a.t.Fatalf("the action was answered %s: %v", answer, err)
	}
	return a.decoded(string(text), len(scripts))
}
