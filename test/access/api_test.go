package access

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func TestNewJobsSayWhereTheyAre(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	for path, c := range map[string]struct{ body, at string }{
		"/api/jobs":        {`{"kind":"meal-suggestions","input":{"dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-02"}}`, "/api/jobs/req_"},
		"/api/suggestions": {`{"dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-02"}`, "/api/jobs/req_"},
		"/hitl/runs":       {`{"prompt":"a lake"}`, "/hitl/runs/req_"},
	} {
		resp := must.Get(http.Post(n.URL+path, "application/json", strings.NewReader(c.body)))(t)
		resp.Body.Close()
		location := resp.Header.Get("Location")
		if resp.StatusCode != 202 || !strings.HasPrefix(location, c.at) {
			t.Errorf("%s answered %d with Location %q", path, resp.StatusCode, location)
			continue
		}
		n.Want(t, 200, "GET", location, nil)
	}
}

func TestPagesOfOtherOriginsMayCacheAndRead(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CORS_ORIGINS": "https://front.example", "JWT_SECRET": rig.TokenSecret, "CLAUDE_BIN": "simulate"})
	preflight := n.Respond(t, "OPTIONS", "/api/jobs", nil, "Origin", "https://front.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type,idempotency-key").Header
	if preflight.Get("Access-Control-Max-Age") != "7200" || !strings.Contains(preflight.Get("Access-Control-Allow-Headers"), "idempotency-key") {
		t.Errorf("the preflight was answered %v", preflight)
	}
	refused := n.Respond(t, "GET", "/api/jobs", nil, "Origin", "https://front.example")
	exposed := refused.Header.Get("Access-Control-Expose-Headers")
	for _, name := range []string{"Retry-After", "Www-Authenticate", "Location", "Content-Disposition"} {
		if refused.Status != 401 || !strings.Contains(strings.ToLower(exposed), strings.ToLower(name)) {
			t.Errorf("a page cannot read %s: %d %q", name, refused.Status, exposed)
		}
	}
	if foreign := n.Respond(t, "OPTIONS", "/api/jobs", nil, "Origin", "https://elsewhere.example", "Access-Control-Request-Method", "POST").Header; foreign.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign page is let in: %v", foreign)
	}
}

func TestEachLineOfAJSONLogIsJSON(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"LOG_FORMAT": "json"})
	n.Await(t, n.Create(t, object{}), "received")
	must.Eventually(t, "the turn's end to be logged", func() bool { return strings.Contains(n.Log.String(), `"msg":"turn ended"`) })
	said := n.Log.String()
	if !strings.Contains(said, `"callbackTimeout_ms":300000,`) || !strings.Contains(said, `"took_ms":`) {
		t.Errorf("durations are logged as:\n%s", said)
	}
	for line := range strings.Lines(said) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is %s", line)
		}
	}
}

func TestAServerThatCannotStartLogsItAsJSON(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	cmd := exec.Command(harness.Binary(), "serve")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LOG_FORMAT=json", "CLAUDE_BIN=simulate", "LISTEN_ADDR=" + strings.TrimPrefix(n.URL, "http://")}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"msg":"server failed"`) {
		t.Errorf("%v:\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is %s", line)
		}
	}
}
