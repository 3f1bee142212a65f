package attack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ringback/test/harness"
)

// place is where an attacker's code runs.
type place string

const (
	inAction   place = "an action"
	inTurn     place = "a turn"
	inVerifier place = "a verifier"
)

var places = []place{inAction, inTurn, inVerifier}

// obedientCLI is a CLI that runs the part of its prompt after SCRIPT and sends the output
// as its result; or, if it has a repository, writes it there for the verifiers.
const obedientCLI = "#!/bin/sh\n" + harness.AnswersVersion + harness.AnswersTrial + `
own=$(mktemp -d); trap 'rm -rf "$own"' EXIT
cat > "$own/prompt"
value() { sed -n "s/^- $1: //p" "$own/prompt" | tail -1; }
export UP=$PPID
grep -o 'SCRIPT:[A-Za-z0-9+/=]*' "$own/prompt" | head -1 | cut -d: -f2 | base64 -d > "$own/script"
room=$(find . -maxdepth 2 -name .git | head -1)
if [ -n "$room" ]; then cp "$own/script" "$room/../attack.sh"; else out=$(sh "$own/script") || exit; fi
printf '{"requestId":"%s","hmac":"%s","out":"%s"}' "$(value REQUEST_ID)" "$(value HMAC_SIGNATURE)" "$out" > "$own/result"
curl -sS "$(value CALLBACK_BASE_URL)/api/claude/result" -H 'Content-Type: application/json' -d @"$own/result" >&2
`

// attackFrom starts a server whose jobs run an attacker's code in one place.
func attackFrom(t *testing.T, from place, ordinary bool, r rules, env harness.Vars) *attacked {
	t.Helper()
	if from == inVerifier {
		r.change += "workspace: {repositories: [{url: '" + repository(t, ordinary) + "'}]}\nverifiers: [{name: attack, command: UP=$PPID sh attack.sh}]\n"
	}
	if from == inTurn && env["SANDBOX"] != "require" {
		env = maps.Clone(env)
		env["ANTHROPIC_API_KEY"] = "" // the CLI has the credential: SECURITY.md
	}
	a := attackKind(t, ordinary, env, r)
	a.place = from
	return a
}

// runAll runs scripts one after the other in the attacked place, and returns the output of
// each: its beginning, and the lines that contain a secret.
func (a *attacked) runAll(scripts []string) []string {
	a.t.Helper()
	var all strings.Builder
	all.WriteString("export UP=${UP:-$PPID}\n")
	for _, script := range scripts {
		// In a separate shell, which the script may end; in base64, because known secrets
		// would otherwise be masked.
		fmt.Fprintf(&all, "timeout 20 sh -c \"$(echo %s | base64 -d)\" 2>&1 </dev/null | tr '\\000' '\\n' | { head -c 1000; echo; grep -a -o -E 'planted-[A-Z0-9]+|redis.sock$|appendonly.aof' | head -c 1000; } | base64 -w0; echo\n",
			base64.StdEncoding.EncodeToString([]byte(script)))
	}
	var text string
	switch a.place {
	case inTurn, inVerifier:
		text = a.runInJob("{ " + all.String() + "} | base64 -w0")
	case inAction:
		text = a.run(all.String())
	}
	return a.decoded(strings.TrimSpace(text), len(scripts))
}

// decoded returns what each of so many scripts has said: a line of base64.
func (a *attacked) decoded(text string, scripts int) (said []string) {
	a.t.Helper()
	for line := range strings.Lines(text) {
		printed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err != nil {
			a.t.Fatalf("%v in %q", err, line)
		}
		said = append(said, string(printed))
	}
	if len(said) != scripts {
		a.t.Fatalf("%d of %d scripts have said something: %q", len(said), scripts, said)
	}
	return said
}

// runInJob runs a script in a job's turn, or its verifier, and returns its output, which
// must be base64.
func (a *attacked) runInJob(script string) string {
	a.t.Helper()
	record := a.runJob(script)
	result, _ := record["result"].(harness.Object)
	printed, _ := result["out"].(string)
	if a.place == inVerifier {
		for _, log := range a.logs(record) {
			printed = log.Stdout
		}
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(printed))
	if err != nil || len(text) == 0 {
		a.t.Fatalf("the job ended as %v; it printed %q: %v", record, printed, err)
	}
	return string(text)
}

// runJob runs a script in a job's turn, or makes the turn write it for a verifier, and
// returns the record once the job has ended.
func (a *attacked) runJob(script string) (record harness.Object) {
	a.t.Helper()
	kind := map[place]string{inTurn: "attack", inVerifier: "change"}[a.place]
	header := map[string]string{"Authorization": "Bearer " + a.key()}
	id, _ := a.Want(a.t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: harness.Object{
		"kind": kind, "userId": "u1", "input": harness.Object{"prompt": "SCRIPT:" + base64.StdEncoding.EncodeToString([]byte(script))},
	}})["requestId"].(string)
	harness.Eventually(a.t, "the job's end", func() bool {
		record = a.Want(a.t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: header})
		return record["status"] == "received" || record["status"] == "failed" || record["status"] == "expired"
	})
	return record
}

// verifierLog is the stored output of a verifier.
type verifierLog struct {
	Verifier, Stdout, Stderr string
	Success                  bool
}

func (a *attacked) logs(record harness.Object) (logs []verifierLog) {
	a.t.Helper()
	_, _, text, err := once(a.t, "GET", a.URL+"/api/jobs/"+fmt.Sprint(record["requestId"])+"/logs", a.key(), "")
	if err == nil {
		err = json.Unmarshal([]byte(text), &logs)
	}
	if err != nil {
		a.t.Fatalf("the logs are %s, %v, of %v", text, err, record)
	}
	return logs
}
