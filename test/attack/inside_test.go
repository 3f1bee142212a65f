package attack

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/harness"
)

// answers are ways in which a script may answer a question: HOST, PORT and URL are the
// server's, PATH is that of the reply, BODY the reply, AUTH a key, HIDE a program that
// knows more ways.
var answers = []string{
	"curl -sS URLPATH -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY'",
	"curl -sS http://localhost:PORTPATH --interface lo -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY'",
	"curl -sS URL/api/jobs/JOB/approve -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d '{}'",
	"curl -sS URL/to-llm -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d '{}'",
	"curl -sS -X DELETE URL/api/approvals/x -H 'Authorization: Bearer AUTH'",
	"curl -sS URL/api/jobs/JOB/callback -H 'Authorization: Bearer AUTH'",
	"curl -sS --path-as-is 'URL/healthz/..PATH' -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY'",
	"curl -sS URL/api/slack/commands -d text=approve+JOB",
	"setsid -f env -i curl -sS URLPATH -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY' </dev/null >/dev/null 2>&1; sleep 1",
	"(nohup setsid sh -c 'setsid env -i curl -sS URLPATH -H Content-Type:application/json -H \"Authorization: Bearer AUTH\" -d \"$(echo BODY64 | base64 -d)\" & exec true' &) >/dev/null 2>&1; sleep 1",
	"unshare -Ur curl -sS URLPATH -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY' || curl -sS URLPATH -d '{}'",
	`bash -c 'exec 3<>/dev/tcp/HOST/PORT; printf "POST PATH HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer AUTH\r\nContent-Length: %d\r\n\r\n%s" $(echo BODY64 | base64 -d | wc -c) "$(echo BODY64 | base64 -d)" >&3; timeout 3 head -c 300 <&3'`,
	"env RINGBACK_PROCESS= curl -sS URLPATH -H 'Content-Type: application/json' -H 'Authorization: Bearer AUTH' -d 'BODY'",
	"HIDE plain", "HIDE forked; sleep 1", "HIDE late", "HIDE pipelined", "HIDE old", "HIDE bound", "HIDE dying", "HIDE resetting", "HIDE half_closed", "HIDE in_flight",
	"HIDE undumpable", "HIDE in_a_thread", "HIDE relay; sleep 1.2", "HIDE bounced; sleep 0.2", "HIDE proxied", "HIDE web_socket",
}

// What runs for a job answers no question, neither where nobody needs a key nor with a key
// that it has learned.
func TestNothingOfAJobAnswersForAPerson(t *testing.T) {
	t.Parallel()
	open, keyed := harness.Vars{"API_KEYS": "", "JWT_SECRET": ""}, harness.Vars{"API_KEYS": "", "JWT_SECRET": "", "LISTEN_ADDR": "[::]:0"}
	six := maps.Clone(open)
	six["LISTEN_ADDR"] = "[::1]:0"
	for name, mode := range modes {
		for door, env := range map[string]harness.Vars{"open": open, "a key": keyed, "open, IPv6": six} {
			if door != "open" && (mode.ordinary != (mode.sandbox == "require") || !mode.ordinary && door == "open, IPv6") {
				continue // one mode of each sort shows it
			}
			t.Run(name+", "+door, func(t *testing.T) {
				t.Parallel()
				env := maps.Clone(env)
				env["SANDBOX"], env["HOLD"] = mode.sandbox, "0s"
				if door == "a key" {
					dir := ownDir(t, mode.ordinary)
					env["API_KEYS_FILE"] = filepath.Join(dir, "api-keys")
					write(t, env["API_KEYS_FILE"], shop.Line()+"\n")
					if mode.ordinary {
						harness.Ordinary().Own(t, dir)
					}
				}
				answerFromInside(attack(t, mode.ordinary, env))
			})
		}
	}
}

// answerFromInside tries all answers, each of which the server must have seen and refused.
func answerFromInside(a *attacked) {
	a.t.Helper()
	as := map[string]string{"Authorization": "Bearer " + shopKey}
	asker, envelope := a.Manual(a.t, as, harness.Object{"userId": "u1"})
	envelope["type"], envelope["message"] = "information_request", "May I?"
	if status, answer := harness.Send(a.t, a.callbacks(), harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: envelope}); status != 200 {
		a.t.Fatalf("asking was answered %d %v", status, answer)
	}
	question, _ := a.Want(a.t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + asker, Header: as})["checkpoint"].(harness.Object)
	path := fmt.Sprint("/api/checkpoints/", question["id"])

	program, err := os.ReadFile("testdata/inside.py")
	if err != nil {
		a.t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(a.Dir), "readable", "inside.py")
	if err := os.WriteFile(file, program, 0o644); err != nil {
		a.t.Fatal(err)
	}
	server, err := url.Parse(a.URL)
	if err != nil {
		a.t.Fatal(err)
	}
	host, body := server.Hostname(), `{"text":"yes"}`
	if host == "::" {
		host = "127.0.0.1" // which is ::ffff:127.0.0.1 to the server
	}
	base := "http://" + net.JoinHostPort(host, server.Port())
	fill := strings.NewReplacer(
		"HIDE", "python3 "+file, "URL", base, "PATH", path+"/reply", "PORT", server.Port(), "HOST", host, "JOB", asker, "AUTH", shopKey,
		"BODY64", base64.StdEncoding.EncodeToString([]byte(body)), "BODY", body,
	)
	for group := range slices.Chunk(answers, 8) {
		var script strings.Builder
		for _, way := range group {
			if name, rest, hides := strings.Cut(way, ";"); strings.HasPrefix(way, "HIDE") {
				way = name + " HOST PORT PATH 'BODY' AUTH"
				if hides {
					way += ";" + rest
				}
			}
			fmt.Fprintf(&script, "(%s)\n", fill.Replace(way))
		}
		before, want := strings.Count(a.Log.String(), refusedFromWithin), len(group)
		if slices.ContainsFunc(group, func(way string) bool { return strings.Contains(way, "resetting") }) {
			want-- // a reset may take what was sent with it
		}
		said := a.run(script.String())
		harness.Eventually(a.t, "the server to refuse all of "+script.String()+" which printed "+said, func() bool {
			return strings.Count(a.Log.String(), refusedFromWithin) >= before+want
		})
		if now := a.Want(a.t, 200, harness.Request{Method: "GET", Path: path, Header: as}); now["status"] != "open" {
			a.t.Fatalf("one of these has answered: the question is %v\n%s", now["status"], script.String())
		}
		if strings.Contains(said, `"hmac"`) {
			a.t.Errorf("one of these was told a signature: %s\n%s", said, script.String())
		}
	}
	for _, way := range []string{"curl -sS URL/healthz", `curl -sS ` + a.callbacks() + `/api/claude/progress -H 'Content-Type: application/json' -d '{"requestId":"` + a.id + `","message":"At work"}'`} {
		if said := a.run(fill.Replace(way)); !strings.Contains(said, `"status":"ok"`) && !strings.Contains(said, `"success":true`) {
			a.t.Errorf("%s was told %s", way, said)
		}
	}
	a.Want(a.t, 200, harness.Request{Method: "POST", Path: path + "/reply", Header: as, Body: harness.Object{"text": "yes"}})
}

// refusedFromWithin is what the server logs of each call that it refuses because it comes
// from a job.
const refusedFromWithin = "refused a call from within"
