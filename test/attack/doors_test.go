package attack

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
)

const (
	tokenSecret = "0123456789abcdef0123456789abcdef"
	backendKey  = "a-key-of-the-back-end"
)

var mealInput = harness.Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}

// sendRaw sends the head of a request unchanged, and returns the status.
func sendRaw(t *testing.T, url, head string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	must.OK(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(harness.Patience))
	fmt.Fprint(conn, head+"Connection: close\r\n\r\n")
	line, _ := bufio.NewReader(conn).ReadString('\n')
	_, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	status, _, _ = strings.Cut(status, " ")
	return status
}

// foreignHosts returns names that a page can make resolve to this machine.
func foreignHosts(port string) []string {
	return []string{
		"evil.example", "evil.example:" + port, "EVIL.example", "evil.example.:" + port, "localhost.evil.example", "localhost.evil.example:" + port,
		"127.0.0.1.evil.example", "127.0.0.1.nip.io:" + port, "evil-localhost", "notlocalhost:" + port, "localhost@evil.example", "evil.example#localhost",
		"0.0.0.0:" + port, "[::]:" + port, "[::ffff:8.8.8.8]:" + port, "10.0.0.1", "169.254.169.254", "2130706433.example", ".localhost", "localhost:" + port + ":80",
		"localhost,evil.example", "evil.example/localhost", "xn--localhost-x.example", "[::1", "::1", "[localhost]", "localhost:evil",
	}
}

// A server without keys trusts every client on loopback, but not the remote clients of a
// proxy.
func TestAServerWithoutKeysServesNobodyThroughAProxy(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, nil, nil)
	for header, want := range map[string]string{
		"X-Forwarded-For: 203.0.113.7": "403", "X-Forwarded-For: 127.0.0.1, 10.0.0.7": "403", "Forwarded: for=\"[2001:db8::1]\"": "403", "X-Real-IP: 203.0.113.7": "403",
		"X-Forwarded-For: 127.0.0.1": "200", "X-Other: 203.0.113.7": "200",
	} {
		for _, path := range []string{"/api/jobs", "/", "/client.js", "/readyz", "/openapi.json"} {
			if status := sendRaw(t, s.URL, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\n"); status != want {
				t.Errorf("GET %s with %q was answered %s, want %s", path, header, status, want)
			}
		}
	}
	if status := sendRaw(t, s.URL, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\n"); status != "200" {
		t.Errorf("whether the server lives is answered %s", status)
	}
}

// DNS rebinding: a page's own name resolves to the server, so the browser considers it the
// page's own server. No route must respond.
func TestHostsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"ALLOWED_HOSTS": "ringback.example,[fd00::7]", "API_KEYS": backendKey, "CLAUDE_BIN": "simulate"}, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	for _, host := range foreignHosts(port) {
		for _, path := range []string{"/api/jobs", "/healthz", "/readyz", "/progress", "/nothing/here"} {
			if status := sendRaw(t, s.URL, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\n"); status != "403" && status != "400" {
				t.Errorf("GET %s of %q was answered %s", path, host, status)
			}
		}
		page := http.Header{"Host": {host}, "Origin": {"http://" + host}}
		conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/ws?userId=u1", page)
		if err == nil {
			conn.Close()
			t.Errorf("a WebSocket of %q was accepted", host)
		}
		if resp != nil {
			resp.Body.Close()
		}
	}
	for head, want := range map[string]string{
		"GET http://evil.example/api/jobs HTTP/1.1\r\nHost: localhost\r\n":                "403", // the target wins over the header
		"GET /api/jobs HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\n": "403",
		"GET /api/jobs HTTP/1.1\r\nHost: evil.example\r\nForwarded: host=localhost\r\n":   "403",
		"GET /api/jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n":             "400",
		"GET /api/jobs HTTP/1.1\r\n":                           "400",
		"GET /api/jobs HTTP/1.0\r\n":                           "403",
		"OPTIONS /api/jobs HTTP/1.1\r\nHost: evil.example\r\n": "403",
		"DELETE /api/approvals/x HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://localhost\r\n": "403",
	} {
		if status := sendRaw(t, s.URL, head); status != want {
			t.Errorf("%q was answered %s, want %s", head, status, want)
		}
	}
	for _, host := range []string{
		"localhost", "LocalHost:" + port, "127.0.0.1", "127.0.0.1:" + port, "127.8.9.10", "[::1]:" + port, "[::1]", "app.localhost:" + port,
		"ringback.example", "RINGBACK.example:443", "[fd00::7]:" + port, "localhost:8080",
	} {
		if status := sendRaw(t, s.URL, "GET /api/jobs HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+backendKey+"\r\n"); status != "200" {
			t.Errorf("%q is a name of the server's, and was answered %s", host, status)
		}
	}
	status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Host: "evil.example", Body: harness.Object{}})
	if status != 403 || !strings.Contains(fmt.Sprint(answer), "ALLOWED_HOSTS") {
		t.Errorf("what to set is not said: %d %v", status, answer)
	}
}

// everywhere returns the settings of a server that other machines can reach.
func everywhere(more harness.Vars) harness.Vars {
	env := harness.Vars{"API_KEYS": backendKey, "LISTEN_ADDR": "0.0.0.0:0", "CALLBACK_BASE_URL": "http://localhost:0", "CLAUDE_BIN": "simulate"}
	maps.Copy(env, more)
	return env
}

// A server with keys on loopback can just as easily be reached by a foreign name; one that
// other machines can reach accepts all names unless its own are configured. Load balancers probe that one by its address.
func TestWhereHostsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  harness.Vars
		want map[string]string
	}{
		"keys, on loopback":      {harness.Vars{"API_KEYS": backendKey}, map[string]string{"/openapi.json": "403", "/readyz": "403", "/healthz": "403"}},
		"keys, everywhere":       {everywhere(nil), map[string]string{"/openapi.json": "200", "/readyz": "200"}},
		"keys, names, elsewhere": {everywhere(harness.Vars{"ALLOWED_HOSTS": "a.example"}), map[string]string{"/openapi.json": "403", "/readyz": "200", "/healthz": "200"}},
		"the callbacks' name":    {harness.Vars{"CALLBACK_BASE_URL": "http://b.example:3001"}, map[string]string{"/openapi.json": "200", "/healthz": "200"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t, c.env, nil)
			url := strings.Replace(s.URL, "[::]", "127.0.0.1", 1)
			for path, want := range c.want {
				must.Equal(t, want, sendRaw(t, url, "GET "+path+" HTTP/1.1\r\nHost: b.example\r\n"), path)
			}
		})
	}
}

// A page of another site, in the user's browser, can neither change anything nor listen.
func TestPagesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"CORS_ORIGINS": "https://front.example"}, nil)
	host := strings.TrimPrefix(s.URL, "http://")
	body := harness.Object{"kind": "meal-suggestions", "input": mealInput, "userId": "u1"}
	for _, origin := range []string{
		"https://evil.example", "http://evil.example", "null", "https://front.example.evil.example", "https://front.example:8443", "http://front.example",
		"http://localhost", "http://localhost:1", "http://127.0.0.1", "http://" + host + ".evil.example", "http://" + host + "@evil.example",
		"https://FRONT.example.", "file://", "http://[::1]", "chrome-extension://" + host + "x",
	} {
		for _, path := range []string{"/api/jobs", "/to-llm", "/api/claude/progress", "/progress", "/api/slack/commands"} {
			status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: path, Body: body, Header: map[string]string{"Origin": origin}})
			if status != 403 {
				t.Errorf("POST %s of %q was answered %d %v", path, origin, status, answer)
			}
		}
		if code := closeCode(t, s.URL, "userId=u1", http.Header{"Origin": {origin}}); code != 4403 {
			t.Errorf("a WebSocket of %q was closed with %d", origin, code)
		}
	}
	for _, origin := range []string{"https://front.example", s.URL} {
		s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Body: body, Header: map[string]string{"Origin": origin}})
		if code := closeCode(t, s.URL, "userId=u1", http.Header{"Origin": {origin}}); code != 0 {
			t.Errorf("a WebSocket of %q was closed with %d", origin, code)
		}
	}
}

// closeCode connects, and returns the close code; 0 for a connection that works.
func closeCode(t *testing.T, url, query string, header http.Header) int {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/ws?"+query, header)
	if err != nil {
		status := 0
		if resp != nil {
			status = resp.StatusCode
			resp.Body.Close()
		}
		t.Fatalf("connecting to /ws?%s: %v, status %d", query, err, status)
	}
	resp.Body.Close()
	defer conn.Close()
	_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
	_ = conn.SetReadDeadline(time.Now().Add(harness.Patience))
	if _, _, err = conn.ReadMessage(); err == nil {
		return 0
	}
	end, ok := err.(*websocket.CloseError) //nolint:errorlint // gorilla does not wrap it
	if !ok {
		t.Fatalf("the WebSocket broke: %v", err)
	}
	return end.Code
}

// If other machines can reach the API, callbacks do not work there, and the API does not
// work on the callback listener, even with a key.
func TestCallbacksHaveADoorOfTheirOwn(t *testing.T) {
	t.Parallel()
	one, next := harness.FreePorts(t)
	key := map[string]string{"Authorization": "Bearer " + backendKey}
	s := harness.Start(t, harness.Vars{"LISTEN_ADDR": "0.0.0.0:" + one, "API_KEYS": backendKey, "HOLD": "0s"}, nil)
	if want := "http://127.0.0.1:" + next; s.CallbackURL != want {
		t.Fatalf("callbacks are taken at %q, want %q", s.CallbackURL, want)
	}
	s.URL = "http://127.0.0.1:" + one
	_, envelope := s.Manual(t, key, harness.Object{"userId": "u1"})
	callbacks := []string{
		"/api/claude/progress", "/progress", "/api/claude/suggestions", "/suggestions", "/api/claude/result", "/api/claude/suggestions/batch",
		"/api/claude/failure", "/api/claude/checkpoints", "/api/claude/tool-calls", "/api/claude/actions/deploy", "/API/claude/progress",
		"/api//claude/progress", "/api/claude/../claude/progress", "/api/claude/progress/", "/%61pi/claude/progress", "/api/claude%2fprogress",
	}
	for _, path := range callbacks {
		for _, header := range []map[string]string{nil, key} {
			if status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: path, Body: envelope, Header: header}); status != 404 {
				t.Errorf("POST %s at the public listener was answered %d %v", path, status, answer)
			}
		}
	}
	for _, r := range documentedRoutes(t) {
		if strings.Contains(r.Path, "/claude/") || r.Path == "/progress" || r.Path == "/suggestions" || r.Path == "/healthz" {
			continue
		}
		r.Header, r.Body = key, harness.Object{}
		if status, answer := harness.Send(t, s.CallbackURL, r); status != 404 {
			t.Errorf("%s %s at the callbacks' listener was answered %d %v", r.Method, r.Path, status, answer)
		}
	}
	for _, r := range []harness.Request{
		{Method: "GET", Path: "/healthz"},
		{Method: "POST", Path: "/api/claude/progress", Body: harness.Object{"requestId": envelope["requestId"], "hmac": envelope["hmac"], "message": "x"}},
	} {
		if status, answer := harness.Send(t, s.CallbackURL, r); status != 200 {
			t.Errorf("%s at the callbacks' listener was answered %d %v", r.Path, status, answer)
		}
	}
	if status, _ := harness.Send(t, s.CallbackURL, harness.Request{Method: "GET", Path: "/healthz", Host: "evil.example"}); status != 403 {
		t.Errorf("a host of somebody else was answered %d", status)
	}
	// Jobs find the callback listener automatically.
	id := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: key, Body: harness.Object{"kind": "meal-suggestions", "userId": "u1", "input": mealInput}})["requestId"]
	harness.Eventually(t, "the job to be done", func() bool {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: fmt.Sprint("/api/jobs/", id), Header: key})["status"] == "received"
	})
}

// Callbacks are served where the documents describe.
func TestWhereCallbacksAreTaken(t *testing.T) {
	t.Parallel()
	one, next := harness.FreePorts(t)
	for name, c := range map[string]struct {
		env      harness.Vars
		own      bool
		callback int // the status of a callback at the other listener
	}{
		"on loopback":        {harness.Vars{"API_KEYS": backendKey}, false, 400},
		"named, on loopback": {harness.Vars{"CALLBACK_LISTEN_ADDR": "127.0.0.1:" + one}, true, 404},
		"a base URL":         {harness.Vars{"LISTEN_ADDR": "0.0.0.0:0", "API_KEYS": backendKey, "CALLBACK_BASE_URL": "http://balancer:80"}, false, 400},
		"both the same":      {harness.Vars{"LISTEN_ADDR": "0.0.0.0:0", "CALLBACK_LISTEN_ADDR": "0.0.0.0:0", "API_KEYS": backendKey}, false, 400},
		"everywhere":         {harness.Vars{"LISTEN_ADDR": "[::]:0", "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + next, "API_KEYS": backendKey}, true, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t, c.env, nil)
			url := strings.Replace(s.URL, "[::]", "127.0.0.1", 1)
			status, _ := harness.Send(t, url, harness.Request{Method: "POST", Path: "/api/claude/progress", Body: harness.Object{}})
			if status != c.callback || (s.CallbackURL != "") != c.own {
				t.Errorf("a callback was answered %d; a listener of their own: %q", status, s.CallbackURL)
			}
		})
	}
}

var documentedRoute = regexp.MustCompile("`([A-Z]+) (/[^`?]*)`")

// documentedPatterns returns all routes: a test of internal/server checks that docs/api.md
// matches the server.
func documentedPatterns(t *testing.T) []harness.Request {
	t.Helper()
	text, err := os.ReadFile("../../docs/api.md")
	must.OK(t, err)
	seen := map[string]bool{}
	var all []harness.Request
	for _, match := range documentedRoute.FindAllStringSubmatch(string(text), -1) {
		if !seen[match[0]] {
			all = append(all, harness.Request{Method: match[1], Path: match[2]})
		}
		seen[match[0]] = true
	}
	if len(all) < 40 {
		t.Fatalf("only %d routes are documented", len(all))
	}
	return all
}

// documentedRoutes returns the same with values for their parameters.
func documentedRoutes(t *testing.T) []harness.Request {
	t.Helper()
	all := documentedPatterns(t)
	for i := range all {
		all[i].Path = strings.NewReplacer(":id", "nosuch", ":name", "nosuch", "*", "nosuch").Replace(all[i].Path)
	}
	return all
}

// A process left over from the previous turn, on a node that was paused, cannot deliver in
// the name of the next turn: that turn delivers, and is not told that it is too late.
func TestSecretsOfEarlierTurns(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"HOLD": "0s"}, nil)
	id, before := s.Manual(t, nil, harness.Object{"userId": "u1", "sessionId": "s1"})
	ask := maps.Clone(before)
	maps.Copy(ask, harness.Object{"type": "information_request", "message": "Which?"})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: ask})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/to-llm", Body: harness.Object{"sessionId": "s1", "userId": "u1", "content": "blue"}})
	now := nextTurn(t, s, before)
	dish := harness.Object{"date": "2026-03-02", "mealType": "dinner", "recipe": harness.Object{"name": "Soup", "source": "Own recipe"}}
	result := harness.Object{"suggestions": []any{dish}, "reasoning": "stale"}
	stale, _ := before["hmac"].(string)
	live, _ := now["hmac"].(string)
	for _, hmac := range []any{stale, strings.ToUpper(stale), strings.ToUpper(live), live + "0", live[:63], " " + live, live + "\n", "0x" + live, stale[:32] + live[32:], strings.Repeat("0", 64)} {
		for path, payload := range map[string]harness.Object{
			"/api/claude/result": result, "/api/claude/suggestions": result, "/suggestions": result, "/api/claude/progress": {"message": "stale"}, "/progress": {"message": "stale"},
			"/api/claude/failure": {"error": "stale"}, "/api/claude/checkpoints": {"type": "information_request", "message": "stale?"},
			"/api/claude/suggestions/batch": {"batch": 1, "suggestions": []any{}}, "/api/claude/tool-calls": {"tool_name": "Bash", "tool_input": harness.Object{}}, "/api/claude/actions/x": {"input": harness.Object{}},
		} {
			body := maps.Clone(payload)
			body["requestId"], body["hmac"] = id, hmac
			if status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: path, Body: body}); status != 403 || !strings.Contains(fmt.Sprint(answer["hint"]), "stop now") {
				t.Errorf("%s with %q was answered %d %v", path, hmac, status, answer)
			}
		}
	}
	body := maps.Clone(result)
	body["requestId"], body["hmac"] = id, live
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/result", Body: body})
}

// token returns a user's token with these claims.
func token(t *testing.T, secret string, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	must.OK(t, err)
	return text
}

// All routes, called by all strangers. A new route is in the reference, and so in this
// list.
func TestEveryRouteToEveryStranger(t *testing.T) {
	t.Parallel()
	expired := night
	expired.Expires = time.Now().Add(-time.Hour)
	file := keyFile(t, shop, expired)
	s := harness.Start(t, harness.Vars{"API_KEYS": backendKey, "API_KEYS_FILE": file, "JWT_SECRET": tokenSecret}, nil)
	s.Want(t, 200, with(shopKey, "GET", "/api/jobs", nil))
	writeKeys(t, file, expired)
	harness.Eventually(t, "a key to be revoked", func() bool {
		status, _ := harness.Send(t, s.URL, with(shopKey, "GET", "/api/jobs", nil))
		return status == 401
	})
	key := map[string]string{"Authorization": "Bearer " + backendKey}
	id, _ := s.Manual(t, key, harness.Object{"userId": "alice", "sessionId": "s1"})
	at := func(in time.Duration) int64 { return time.Now().Add(in).Unix() }
	bearer := func(credential string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + credential}
	}
	strangers := map[string]struct {
		header map[string]string
		host   string
		want   []int
	}{
		"no token":            {nil, "", []int{401}},
		"an empty token":      {bearer(""), "", []int{401}},
		"another scheme":      {map[string]string{"Authorization": "Basic " + backendKey}, "", []int{401}},
		"a key cut short":     {bearer(backendKey[:20]), "", []int{401}},
		"a revoked key":       {bearer(shopKey), "", []int{401}},
		"an expired key":      {bearer(nightKey), "", []int{401}},
		"an expired token":    {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "alice", "exp": at(-time.Hour)})), "", []int{401}},
		"a token for ever":    {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "alice", "exp": at(1000 * time.Hour)})), "", []int{401}},
		"a token without end": {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "alice"})), "", []int{401}},
		"another secret":      {bearer(token(t, "another-secret-of-32-characters!!", jwt.MapClaims{"sub": "alice", "exp": at(time.Hour)})), "", []int{401}},
		"nobody's token":      {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "anonymous", "exp": at(time.Hour)})), "", []int{401}},
		"a token of Slack's":  {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "slack:T1/U1", "exp": at(time.Hour)})), "", []int{401}},
		"another host":        {key, "evil.example", []int{403}},
		"another user":        {bearer(token(t, tokenSecret, jwt.MapClaims{"sub": "bob", "exp": at(time.Hour)})), "", []int{400, 403, 404, 409}},
	}
	for _, r := range documentedRoutes(t) {
		claude := strings.HasPrefix(r.Path, "/api/claude/") || r.Path == "/progress" || r.Path == "/suggestions"
		open := r.Path == "/healthz" || r.Path == "/readyz"
		contract := r.Path == "/openapi.json" || r.Path == "/asyncapi.json" // for anyone, but not with wrong credentials
		r.Path = strings.Replace(r.Path, "/api/jobs/nosuch", "/api/jobs/"+id, 1)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			r.Body = harness.Object{}
		}
		for name, who := range strangers {
			r.Header, r.Host = who.header, who.host
			status, _ := harness.Send(t, s.URL, r)
			mine := name == "another user" && (!strings.Contains(r.Path, "/:") && !strings.Contains(r.Path, id)) // a list, or their own data
			switch {
			case who.host != "":
				if status != 403 {
					t.Errorf("%s: %s %s was answered %d", name, r.Method, r.Path, status)
				}
			case open || mine || contract && who.header == nil && status == 200:
			case r.Path == "/ws" && status == 400: // a plain GET, authenticated as bob
			case claude || r.Path == "/api/slack/commands":
				if status < 400 || status >= 500 {
					t.Errorf("%s: %s %s was answered %d", name, r.Method, r.Path, status)
				}
			case !slices.Contains(who.want, status):
				t.Errorf("%s: %s %s was answered %d, want one of %v", name, r.Method, r.Path, status, who.want)
			}
		}
		r.Header, r.Host = map[string]string{"Authorization": "Bearer " + backendKey, "Origin": "https://evil.example"}, ""
		if status, _ := harness.Send(t, s.URL, r); r.Body != nil && status != 403 {
			t.Errorf("a foreign page: %s %s was answered %d", r.Method, r.Path, status)
		}
	}
	// A token in the URL is only accepted for the WebSocket.
	alice := token(t, tokenSecret, jwt.MapClaims{"sub": "alice", "exp": at(time.Hour)})
	upgrade := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	for _, path := range []string{"/api/jobs", "/api/jobs/" + id, "/api/jobs/" + id + "/transcript", "/api/checkpoints", "/api/sessions/s1/messages", "/api/stats"} {
		for _, header := range []map[string]string{nil, upgrade} {
			if status, _ := harness.Send(t, s.URL, harness.Request{Method: "GET", Path: path + "?token=" + alice, Header: header}); status != 401 {
				t.Errorf("a token in the URL of %s was answered %d", path, status)
			}
		}
	}
	if code := closeCode(t, s.URL, "token="+alice, nil); code != 0 {
		t.Errorf("a token in the URL of /ws was closed with %d", code)
	}
}
