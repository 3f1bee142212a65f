package access

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/scan"
)

// The end of each test looks for secrets in forbidden places. This test plants some there:
// in the record, an event, a response, the transcript, the log, a file, and the command
// lines and environments of children.
func TestSecretsThatArePlantedAreFound(t *testing.T) {
	t.Parallel()
	s := scan.New()
	server := rig.StartScannedRedis(t, s)
	const secret = "planted/secret+of&<nobody>" // unknown to the server, so it cannot mask it
	s.Plant(scan.OfServer, "PLANTED", secret)
	n := rig.StartWith(t, harness.Options{Scan: s, Env: vars{"REDIS_URL": server.URL, "HOLD": "0s", "CLAUDE_BIN": rig.Script(t, `
		echo '`+secret+`'; echo '`+secret+`' > note.txt
		bash -c 'sleep 100; true # `+secret+`' & HIDDEN='`+secret+`' sleep 100 & wait`)}})
	events := n.Listen(t, "userId=u1")
	id := n.Create(t, object{"userId": "u1"})
	n.Await(t, id, "running")

	options := must.Get(redis.ParseURL(server.URL))(t)
	rdb := redis.NewClient(options)
	defer rdb.Close()
	keys, err := rdb.Keys(t.Context(), "*:secret:"+id).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("the turn's secret is in %v (%v)", keys, err)
	}
	ofTurn := rdb.HGet(t.Context(), keys[0], "secret").Val()
	for _, text := range []string{secret, ofTurn} {
		n.Want(t, 200, "POST", "/api/claude/progress", object{"requestId": id, "message": "see " + text})
		events.Until("recipes:suggestions:activity")
	}
	n.Want(t, 200, "GET", "/api/jobs/"+id+"/events", nil)
	_, _ = n.Log.Write([]byte("calling with " + ofTurn + " and " + secret))
	must.Eventually(t, "the transcript", func() bool { return strings.Contains(n.Text(t, "/api/jobs/"+id+"/transcript"), "planted") })
	must.Eventually(t, "the children to be looked at", func() bool {
		text := strings.Join(n.Secrets.InProcesses(), "\n")
		return strings.Contains(text, "argv turn: PLANTED") && strings.Contains(text, "environment turn HIDDEN: PLANTED")
	})
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	n.Kill(t)
	leaks := must.Get(n.Secrets.Leaks())(t)
	inStore := must.Get(s.Store(server.Dir))(t)
	found := strings.Join(append(leaks, inStore...), "\n")
	for _, want := range []string{
		"frame : PLANTED", "answer /api/jobs/" + id + "/events: PLANTED", "log : PLANTED", "store transcript:" + id + ":1: PLANTED",
		"store events:u1: PLANTED", "store job:" + id + ": PLANTED", "/work/note.txt: PLANTED",
		"frame : the secret", "answer /api/jobs/" + id + "/events: the secret", "log : the secret", "store events:u1: the secret",
	} {
		must.Contain(t, found, want)
	}
	must.NotContain(t, found, "store secret:", "a turn's secret is taken for a leak at home")
	if t.Failed() {
		t.Log(found)
	}
}

// Secrets that Claude prints, whether it knows them or has found them, are in no
// transcript, no message and no record: the end of the test looks for them.
func TestSecretsThatClaudePrintsAreHidden(t *testing.T) {
	t.Parallel()
	read := strings.ReplaceAll(scan.Secrets["WEBHOOK_SECRET"], "&", `\u0026`) // from a file, say
	n := rig.Start(t, vars{
		"REDIS_URL": rig.StartRedis(t).URL, "PROMPTS_DIR": rig.KindsDir(t, "quick.md", "---\nmax_attempts: 1\n---\nBe quick."),
		"CLAUDE_BIN": rig.Script(t, `
			echo '{"type":"system","subtype":"init","session_id":"x"}'
			echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The key is '"$ANTHROPIC_API_KEY"', the secret `+read+`"}]}}'
			echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"echo '"$ANTHROPIC_API_KEY"'"}}]}}'
			echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"'"$ANTHROPIC_API_KEY"'"}]}}'
			printf '{"type":"user","more":"%s' "${ANTHROPIC_API_KEY:0:12}"; sleep 1; printf '%s"}\n' "${ANTHROPIC_API_KEY:12}"
			echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: '"$ANTHROPIC_API_KEY"' is invalid"}'
			echo "it is $ANTHROPIC_API_KEY" >&2; exit 1`),
	})
	id := n.Create(t, object{"kind": "quick", "userId": "u1", "sessionId": "s1"})
	n.Await(t, id, "failed")
	said := rig.JSON(n.Want(t, 200, "GET", "/api/sessions/s1/messages?userId=u1", nil))
	stars := strings.Repeat("*", len(scan.Secrets["ANTHROPIC_API_KEY"]))
	for place, text := range map[string]string{"messages": said, "transcript": n.Text(t, "/api/jobs/"+id+"/transcript")} {
		if strings.Count(text, stars) < 3 {
			t.Errorf("the %s: %s", place, text)
		}
	}
}
