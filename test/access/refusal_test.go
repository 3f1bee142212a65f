package access

import (
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// wrongTokens returns invalid credentials by what is wrong with them; the reason of the close must
// distinguish them. internal/web/api has all that are refused.
func wrongTokens(t testing.TB) map[string]struct{ credential, says string } {
	t.Helper()
	alice := func(secret string, expires time.Duration) string {
		return rig.Token(t, secret, jwt.SigningMethodHS256, jwt.MapClaims{"sub": "alice", "exp": rig.In(expires)})
	}
	return map[string]struct{ credential, says string }{
		"missing":        {"", "no key or token was sent"},
		"not a token":    {"a-key-of-the-back-enD", "malformed"},
		"expired":        {alice(rig.TokenSecret, -time.Hour), "the token expired at 20"},
		"another secret": {alice(strings.ToUpper(rig.TokenSecret), time.Hour), "wrong signature"},
	}
}

// dial connects like a page, and returns the code and reason with which the server closes;
// 0 if it sends something instead.
func dial(t testing.TB, n *rig.Node, query string, header http.Header) (code int, reason string) {
	t.Helper()
	conn := harness.Dial(t, n.URL, query, header) // a page cannot tell a refused handshake from a dead server
	// Some clients send first.
	_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
	_ = conn.SetReadDeadline(time.Now().Add(must.Patience))
	_, _, err := conn.ReadMessage()
	if end, ok := errors.AsType[*websocket.CloseError](err); ok {
		return end.Code, end.Text
	}
	return 0, ""
}

func TestRefusedWebSocketsSayWhy(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"API_KEYS": "a-key-of-the-back-end", "JWT_SECRET": rig.TokenSecret, "CLAUDE_BIN": "simulate", "CORS_ORIGINS": "https://front.example"})
	alice := rig.Token(t, rig.TokenSecret, jwt.SigningMethodHS256, jwt.MapClaims{"sub": "alice", "exp": rig.In(time.Hour)})
	for name, c := range wrongTokens(t) {
		if code, reason := dial(t, n, "token="+c.credential, nil); code != 4401 || !strings.Contains(reason, c.says) {
			t.Errorf("%s: closed with %d %q, want 4401 that says %q", name, code, reason, c.says)
		}
	}
	_, of := n.Do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": rig.MealInput(), "userId": "bob"}, "Authorization", "Bearer a-key-of-the-back-end")
	bobs := of["requestId"].(string)
	page := func(origin string) http.Header { return http.Header{"Origin": {origin}} }
	for _, c := range []struct {
		name, query string
		header      http.Header
		code        int
		says        string
	}{
		{"another user's events", "userId=bob&token=" + alice, nil, 4403, "userId"},
		{"another user's job", "requestId=" + bobs + "&token=" + alice, nil, 4403, "no job with this requestId"},
		{"a job that is not there", "requestId=nosuch&token=" + alice, nil, 4403, "no job with this requestId"},
		{"a malformed since", "since=yesterday&token=" + alice, nil, 4400, "since"},
		{"a since of another script", "since=" + strings.Repeat("%E2%82%AC", 100) + "&token=" + alice, nil, 4400, "since"},
		{"text of all jobs", "text=true&token=" + alice, nil, 4400, "requestId"},
		{"text neither true nor false", "text=yes&token=" + alice, nil, 4400, "text"},
		{"a malformed userId", "userId=%01&token=" + alice, nil, 4400, "userId"},
		{"a foreign page", "token=" + alice, page("https://elsewhere.example"), 4403, "CORS_ORIGINS"},
		{"a foreign page without a token", "", page("https://elsewhere.example"), 4403, "CORS_ORIGINS"},
		{"a sandboxed page", "token=" + alice, page("null"), 4403, "CORS_ORIGINS"},
		{"a known page", "token=" + alice, page("https://front.example"), 0, ""},
		{"the owner, as a subprotocol", "", http.Header{"Sec-Websocket-Protocol": {"ringback, " + alice}}, 0, ""},
	} {
		if code, reason := dial(t, n, c.query, c.header); code != c.code || !strings.Contains(reason, c.says) || len(reason) > 123 {
			t.Errorf("%s: closed with %d %q, want %d that says %q", c.name, code, reason, c.code, c.says)
		}
	}
	back := http.Header{"Authorization": {"Bearer a-key-of-the-back-end"}}
	if code, reason := dial(t, n, "userId=bob&requestId="+bobs, back); code != 0 {
		t.Errorf("a back end for the job's user: closed with %d %q", code, reason)
	}
	if code, _ := dial(t, n, "userId=alice&requestId="+bobs, back); code != 4403 {
		t.Errorf("a back end for another than the job's user: closed with %d", code)
	}
	if resp := n.Respond(t, "GET", "/ws", nil); resp.Status != 401 || resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("GET /ws without an upgrade was answered %d", resp.Status)
	}
}

func TestTokenThatExpiresEndsItsWebSocket(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"JWT_SECRET": rig.TokenSecret, "CLAUDE_BIN": "simulate"})
	short := rig.Token(t, rig.TokenSecret, jwt.SigningMethodHS256, jwt.MapClaims{"sub": "alice", "exp": rig.In(3 * time.Second)})
	events := n.Listen(t, "token="+short)
	select {
	case err := <-events.Closed:
		if end, ok := errors.AsType[*websocket.CloseError](err); !ok || end.Code != 4401 || !strings.Contains(end.Text, "expired") {
			t.Errorf("closed with %v, want 4401", err)
		}
	case <-time.After(must.Patience):
		t.Error("the connection outlived its token")
	}
}

func TestTokenCommand(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"JWT_SECRET": rig.TokenSecret, "CLAUDE_BIN": "simulate"})
	token := func(secret string, args ...string) (stdout, stderr string, code int) {
		cmd := exec.Command(harness.Binary(), append([]string{"token"}, args...)...)
		cmd.Dir = rig.DotenvDir(t, "JWT_SECRET="+secret+"\n")
		var out, err strings.Builder
		cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + t.TempDir()}, &out, &err
		_ = cmd.Run()
		return out.String(), err.String(), cmd.ProcessState.ExitCode()
	}
	out, said, code := token(rig.TokenSecret, "--user", "u1", "--ttl", "1h")
	minted, ended := strings.CutSuffix(out, "\n")
	if code != 0 || said != "" || !ended || strings.ContainsAny(minted, " \n") {
		t.Fatalf("ended with %d; printed %q, and %q on standard error", code, out, said)
	}
	id := ""
	if status, answer := n.Do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "input": rig.MealInput()}, "Authorization", "Bearer "+minted); status != 202 {
		t.Errorf("the token was answered %d: %v", status, answer)
	} else {
		id = answer["requestId"].(string)
	}
	if _, record := n.Do(t, "GET", "/api/jobs/"+id, nil, "Authorization", "Bearer "+minted); record["userId"] != "u1" {
		t.Errorf("the token acts for %v", record["userId"])
	}
	for name, c := range map[string]struct {
		secret string
		args   []string
		says   string
	}{
		"no secret":         {"", []string{"--user", "u1"}, "JWT_SECRET"},
		"no user":           {rig.TokenSecret, nil, "--user"},
		"a reserved user":   {rig.TokenSecret, []string{"--user", "ringback:reader"}, "reserved"},
		"a life of zero":    {rig.TokenSecret, []string{"--user", "u1", "--ttl", "0s"}, "--ttl"},
		"a life in words":   {rig.TokenSecret, []string{"--user", "u1", "--ttl", "long"}, "--ttl"},
		"a secret too weak": {"short", []string{"--user", "u1"}, "JWT_SECRET"},
	} {
		if out, said, code := token(c.secret, c.args...); code != 2 || out != "" || !strings.Contains(said, c.says) || strings.Contains(said, rig.TokenSecret) {
			t.Errorf("%s: ended with %d; printed %q, and %q on standard error; want it to say %q", name, code, out, said, c.says)
		}
	}
}
