package attack

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
)

const (
	tokenSecret = "0123456789abcdef0123456789abcdef"
	backendKey  = "a-key-of-the-back-end"
)

var mealInput = harness.Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}

// sendRaw sends the head of a request as it is, and returns the status.
func sendRaw(t *testing.T, url, head string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(harness.Patience))
	fmt.Fprint(conn, head+"Connection: close\r\n\r\n")
	line, _ := bufio.NewReader(conn).ReadString('\n')
	_, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	status, _, _ = strings.Cut(status, " ")
	return status
}

// foreignHosts are names that a page can have lead to this machine.
func foreignHosts(port string) []string {
	return []string{
		"evil.example", "evil.example:" + port, "EVIL.example", "evil.example.:" + port, "localhost.evil.example", "localhost.evil.example:" + port,
		"127.0.0.1.evil.example", "127.0.0.1.nip.io:" + port, "evil-localhost", "notlocalhost:" + port, "localhost@evil.example", "evil.example#localhost",
		"0.0.0.0:" + port, "[::]:" + port, "[::ffff:8.8.8.8]:" + port, "10.0.0.1", "169.254.169.254", "2130706433.example", ".localhost", "localhost:" + port + ":80",
		"localhost,evil.example", "evil.example/localhost", "xn--localhost-x.example", "[::1", "::1", "[localhost]", "localhost:evil",
	}
}

// DNS rebinding: a page's own name leads to the server, and so it is the page's own
// server to the browser. No route answers.
func TestHostsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"ALLOWED_HOSTS": "ringback.example,[fd00::7]"}, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	for _, host := range foreignHosts(port) {
		for _, path := range []string{"/api/jobs", "/healthz", "/metrics", "/progress", "/nothing/here"} {
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
		"GET http://evil.example/api/jobs HTTP/1.1\r\nHost: localhost\r\n":                "403", // the target goes before the header
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
		if status := sendRaw(t, s.URL, "GET /api/jobs HTTP/1.1\r\nHost: "+host+"\r\n"); status != "200" {
			t.Errorf("%q is a name of the server's, and was answered %s", host, status)
		}
	}
	status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Host: "evil.example", Body: harness.Object{}})
	if status != 403 || !strings.Contains(fmt.Sprint(answer), "ALLOWED_HOSTS") {
		t.Errorf("what to set is not said: %d %v", status, answer)
	}
}

// A server behind keys on loopback is as easy to reach by a name of somebody else's;
// one that other machines reach answers to all names unless it is told its own.
func TestWhereHostsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  harness.Vars
		want string
	}{
		"keys, on loopback":      {harness.Vars{"API_KEYS": backendKey}, "403"},
		"keys, everywhere":       {harness.Vars{"API_KEYS": backendKey, "LISTEN_ADDR": "0.0.0.0:0", "CALLBACK_BASE_URL": "http://localhost:0"}, "200"},
		"keys, names, elsewhere": {harness.Vars{"API_KEYS": backendKey, "LISTEN_ADDR": "0.0.0.0:0", "CALLBACK_BASE_URL": "http://localhost:0", "ALLOWED_HOSTS": "a.example"}, "403"},
		"the callbacks' name":    {harness.Vars{"CALLBACK_BASE_URL": "http://b.example:3001"}, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t, c.env, nil)
			url := strings.Replace(s.URL, "[::]", "127.0.0.1", 1)
			if status := sendRaw(t, url, "GET /healthz HTTP/1.1\r\nHost: b.example\r\n"); status != c.want {
				t.Errorf("answered %s, want %s", status, c.want)
			}
		})
	}
}

// A page of another site, in a browser of the user's, can neither change anything nor
// listen.
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

// closeCode connects, and returns how it was closed; 0 for a connection that works.
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
