package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/rig"
)

func TestStandardErrorIsKept(t *testing.T) {
	t.Parallel()
	const key = "sk-of-the-model-1234"
	n := rig.Start(t, vars{
		"ANTHROPIC_API_KEY": key, "HTTPS_PROXY": "http://proxy:gr8-password@127.0.0.1:1",
		"CLAUDE_BIN": rig.Script(t, `signature=$(grep -o 'HMAC_SIGNATURE: [0-9a-f]*' | head -1 | cut -d' ' -f2)
			echo '{"type":"system"}'; printf '{"type":"cut'
			echo "deprecated: see $ANTHROPIC_API_KEY, $HTTPS_PROXY" >&2; head -c 200000 /dev/zero | tr '\0' x | fold -w 100 >&2; echo >&2
			printf 'no credit left for %s' "$signature" >&2; exit 1`),
		"PROMPTS_DIR": rig.KindsDir(t, "quick.md", "---\nmax_attempts: 1\n---\nBe quick."),
	})
	id := n.Create(t, object{"kind": "quick", "userId": "u1"})
	record := n.Await(t, id, "failed")
	transcript := n.Text(t, "/api/jobs/"+id+"/transcript")
	must.Contain(t, transcript, `{"type":"cut`+"\n"+`{"type":"stderr","turn":1,"text":"`, "its stream is not marked")
	if want := `{"type":"stderr","turn":1,"text":"no credit left for ` + strings.Repeat("*", 64) + `"}` + "\n"; !strings.HasSuffix(transcript, want) {
		t.Errorf("it ends with %s", transcript[max(0, len(transcript)-200):])
	}
	if len(transcript) > 150_000 {
		t.Errorf("%d bytes of it are kept", len(transcript))
	}
	for _, text := range []string{transcript, record["error"].(string)} {
		if strings.Contains(text, key) || strings.Contains(text, "gr8-password") {
			t.Error("a secret of the CLI's is in it")
		}
	}
	if strings.Contains(record["error"].(string), "HMAC") || !strings.Contains(record["error"].(string), "no credit left for ****") {
		t.Errorf("the record says %v", record["error"])
	}
}

func TestWhatFailedIsToldWhenATurnStartsOver(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		env["CLAUDE_BIN"] = rig.Script(t, begins+`echo "no credit left" >&2; exit 1`)
		env["PROMPTS_DIR"] = rig.KindsDir(t, "quick.md", "---\nmax_attempts: 2\n---\nBe quick.")
		env["RETRY_BACKOFF"] = "10ms"
		n := rig.Start(t, env)
		events := n.Listen(t, "userId=u1")
		id := n.Create(t, object{"kind": "quick", "userId": "u1"})
		frames := events.Until("quick:error")
		failure, _ := frames[2]["data"].(object)["lastFailure"].(object)
		want := object{"turn": 1.0, "errorCode": "cli_failed", "error": "Claude ended with an error (exit code 1): no credit left", "time": failure["time"]}
		must.Equal(t, want, failure)
		until, _ := frames[2]["data"].(object)["phaseUntil"].(string)
		if at, err := time.Parse(time.RFC3339, until); err != nil || at.Sub(eventTime(t, frames[2])) != 10*time.Millisecond {
			t.Errorf("the next attempt is to be made at %q, the event is of %v: want 10ms later", until, frames[2]["time"])
		}
		for i, data := range []object{
			{"status": "pending", "phase": "queued"},
			{"status": "running", "phase": "claude"},
			{"status": "pending", "phase": "queued", "phaseUntil": until, "turn": 1.0, "attempt": 1.0, "maxAttempts": 2.0, "lastFailure": want},
			{"status": "running", "phase": "claude", "turn": 2.0, "attempt": 1.0, "maxAttempts": 2.0, "lastFailure": want},
		} {
			must.Equal[any](t, data, frames[i]["data"], "event", i)
		}
		record := n.Await(t, id, "failed")
		sameInstant := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == `["time"]` }, cmp.Comparer(func(a, b any) bool {
			return eventTime(t, object{"time": a}).Equal(eventTime(t, object{"time": b})) // a record leaves out a trailing zero
		}))
		if diff := cmp.Diff(want, record["lastFailure"], sameInstant); diff != "" || record["attempt"] != 2.0 || record["maxAttempts"] != 2.0 {
			t.Errorf("the record says %v of %v: %s", record["attempt"], record["maxAttempts"], diff)
		}
		// A person who retries it also sees why it failed.
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/retry", nil)
		again := events.Until("quick:running")
		if failure := again[len(again)-1]["data"].(object)["lastFailure"].(object); failure["turn"] != 2.0 {
			t.Errorf("after retry: %v", failure)
		}
	})
}

func eventTime(t *testing.T, frame object) time.Time {
	t.Helper()
	text, _ := frame["time"].(string)
	return must.Get(time.Parse(time.RFC3339, text))(t)
}
