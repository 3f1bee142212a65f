package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/web/apikey"
	"ringback/test/harness"
	"ringback/test/must"
)

// withDescriptors runs a server with a limit of descriptors.
func withDescriptors(n int) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, n)}, cmd.Args...)
		cmd.Path = "/bin/sh"
	}
}

// once sends a request on a separate connection, as curl does.
func once(t *testing.T, method, url, key, body string) (status int, header http.Header, text string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must.OK(t, err)
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: harness.Patience}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(all), err
}

// crowd keeps connections open until it is dismissed.
type crowd struct {
	mu   sync.Mutex
	held []io.Closer
}

func (c *crowd) hold(one io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, one)
}

func (c *crowd) goHome() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.held {
		one.Close()
	}
	c.held = nil
}

// say connects and sends the beginning of something.
func (c *crowd) say(address, text string) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return // rejected, which is a response
	}
	c.hold(conn)
	_, _ = io.WriteString(conn, text)
}

// A client that takes all connections of the API takes none from callbacks: with a limit of
// open files far below what it opens, callbacks and /healthz are served, and jobs run. When
// it is gone, everything is as before.
func TestCrowdsAtTheDoorOfTheAPI(t *testing.T) {
	t.Parallel()
	one, next := harness.FreePorts(t)
	for name, env := range map[string]harness.Vars{
		"one listener":            {},
		"a listener of their own": {"LISTEN_ADDR": "127.0.0.1:" + one, "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + next, "CALLBACK_BASE_URL": "http://127.0.0.1:" + next},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env["API_KEYS"], env["JWT_SECRET"], env["WORKERS"] = backendKey, tokenSecret, "2"
			s := harness.Start(t, env, withDescriptors(256))
			address := strings.TrimPrefix(s.URL, "http://")
			callbacks := s.URL
			if s.CallbackURL != "" {
				callbacks = s.CallbackURL
			}
			_, envelope := s.Manual(t, map[string]string{"Authorization": "Bearer " + backendKey}, harness.Object{"userId": "u1"})
			report := fmt.Sprintf(`{"requestId":%q,"hmac":%q,"message":"still here"}`, envelope["requestId"], envelope["hmac"])
			works := func(what string) {
				t.Helper()
				for range 5 {
					if status, _, text, err := once(t, "POST", callbacks+"/api/claude/progress", "", report); status != 200 {
						t.Errorf("%s: a callback was answered %d %s %v", what, status, text, err)
					}
					if status, _, text, err := once(t, "GET", callbacks+"/healthz", "", ""); status != 200 {
						t.Errorf("%s: /healthz was answered %d %s %v", what, status, text, err)
					}
					if status, _, text, err := once(t, "GET", s.OperatorURL+"/metrics", "", ""); status != 200 {
						t.Errorf("%s: /metrics was answered %d %s %v", what, status, text, err)
					}
				}
			}
			auth := "Authorization: Bearer " + backendKey + "\r\nHost: localhost\r\n"
			for what, text := range map[string]string{
				"silent":                  "",
				"a byte":                  "G",
				"half a head":             "GET /api/jobs HTTP/1.1\r\nHost: localhost\r\nX-",
				"kept alive":              "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
				"kept alive, with a key":  "GET /api/jobs HTTP/1.1\r\n" + auth + "\r\n",
				"half a body":             "POST /api/jobs HTTP/1.1\r\n" + auth + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
				"half a body, no key":     "POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
				"a body in endless parts": "POST /to-llm HTTP/1.1\r\n" + auth + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
				"half a callback":         "POST /api/claude/progress HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
				"half a call of a tool":   "POST /api/claude/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
				"half a WebSocket":        "GET /ws?userId=u1 HTTP/1.1\r\n" + auth + "Connection: Upgrade\r\nUpgrade: websocket\r\n",
				"WebSockets that say nothing": "GET /ws?userId=u1 HTTP/1.1\r\n" + auth +
					"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
				"refused WebSockets": "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
				"Slack":              "POST /api/slack/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nt",
				"TLS":                "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
			} {
				var many crowd
				for range 400 {
					many.say(address, text)
				}
				works(what)
				many.goHome()
			}
			var answer harness.Object
			harness.Eventually(t, "the API to take a job", func() bool { // the last of the crowd may still be in the backlog
				var status int
				status, answer = harness.Send(t, s.URL, with(backendKey, "POST", "/api/jobs", harness.Object{"kind": "meal-suggestions", "input": mealInput, "userId": "u2"}))
				if status != 202 && status != 503 {
					t.Fatalf("a job was answered %d %v", status, answer)
				}
				return status == 202
			})
			harness.Eventually(t, "a job to be done", func() bool {
				_, _, text, _ := once(t, "GET", fmt.Sprint(s.URL, "/api/jobs/", answer["requestId"]), backendKey, "")
				return strings.Contains(text, `"received"`)
			})
			if strings.Contains(s.Log.String(), "too many open files") {
				t.Error("the server ran out of descriptors")
			}
		})
	}
}

// A crowd at the listener of the callbacks, which needs no key, shuts neither the API nor the callbacks.
func TestCrowdsAtTheDoorOfTheCallbacks(t *testing.T) {
	t.Parallel()
	one, next := harness.FreePorts(t)
	s := harness.Start(t, harness.Vars{
		"LISTEN_ADDR": "127.0.0.1:" + one, "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + next, "CALLBACK_BASE_URL": "http://127.0.0.1:" + next,
		"API_KEYS": backendKey, "WORKERS": "2",
	}, withDescriptors(256))
	_, envelope := s.Manual(t, map[string]string{"Authorization": "Bearer " + backendKey}, harness.Object{"userId": "u1"})
	report := fmt.Sprintf(`{"requestId":%q,"hmac":%q,"message":"still here"}`, envelope["requestId"], envelope["hmac"])
	for what, text := range map[string]string{
		"silent":          "",
		"half a head":     "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-",
		"kept alive":      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a callback": "POST /api/claude/progress HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
	} {
		var many crowd
		for range 300 {
			many.say("127.0.0.1:"+next, text)
		}
		comeBack, leave := context.WithCancel(t.Context())
		var regulars sync.WaitGroup
		for range 300 {
			regulars.Go(func() { comesBack(comeBack, "127.0.0.1:"+next, text) })
		}
		for range 5 {
			if status, _, text, err := once(t, "GET", s.URL+"/api/jobs", backendKey, ""); status != 200 {
				t.Errorf("%s: the API answered %d %s %v", what, status, text, err)
			}
			if status, _, text, err := once(t, "POST", s.CallbackURL+"/api/claude/progress", "", report); status != 200 {
				t.Errorf("%s: a callback was answered %d %s %v", what, status, text, err)
			}
		}
		leave()
		regulars.Wait()
		many.goHome()
	}
	if strings.Contains(s.Log.String(), "too many open files") {
		t.Error("the server ran out of descriptors")
	}
}

// comesBack connects again and again, sends the beginning of something, and waits until it is turned away.
func comesBack(ctx context.Context, address, text string) {
	for ctx.Err() == nil {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, conn)
		stop()
		conn.Close()
	}
}

// open opens a WebSocket; if it is refused, the response is returned.
func open(t *testing.T, s *harness.Server, query string, header http.Header) (*websocket.Conn, int, http.Header, string) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/ws?"+query, header)
	if err == nil {
		resp.Body.Close()
		return conn, 101, nil, ""
	}
	if resp == nil {
		t.Fatalf("connecting: %v", err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	return nil, resp.StatusCode, resp.Header, string(text)
}

// The number of WebSockets per user and per address is limited, however they connect; other
// users are not affected. A closed one makes room for another.
func TestWebSocketsHaveLimits(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{
		"WEBSOCKETS": "12", "WEBSOCKETS_PER_USER": "3", "WEBSOCKETS_PER_ADDRESS": "5", "JWT_SECRET": tokenSecret, "TRUSTED_PROXIES": "127.0.0.1", "CLAUDE_BIN": "simulate",
		"API_KEYS_FILE": keyFile(t, apikey.Of("shop", shopKey)),
	}, nil)
	key := func(address string) http.Header {
		return http.Header{"Authorization": {"Bearer " + shopKey}, "X-Forwarded-For": {address}}
	}
	var held []*websocket.Conn
	must := func(query, address string) *websocket.Conn {
		t.Helper()
		conn, status, _, text := open(t, s, query, key(address))
		if status != 101 {
			t.Fatalf("/ws?%s from %s was answered %d %s", query, address, status, text)
		}
		held = append(held, conn)
		return conn
	}
	refused := func(query, address string, want int, says string) {
		t.Helper()
		conn, status, header, text := open(t, s, query, key(address))
		if conn != nil {
			conn.Close()
		}
		if status != want || !strings.Contains(text, says) || header.Get("Retry-After") == "" {
			t.Errorf("/ws?%s from %s was answered %d %s (Retry-After %q), want %d … %s", query, address, status, text, header.Get("Retry-After"), want, says)
		}
	}
	for i := range 3 {
		must("userId=u1", "10.0.0."+strconv.Itoa(i))
	}
	for i, query := range []string{"userId=u1", "userId=u1&since=0", "userId=u1&since=1", "userId=%751", "userId=u1&userId=u9", "userId=u1&x=y", "since=0&userId=u1", "userId=u1&token=x", "userId=u1#", "&userId=u1&", "userId=u1&requestId="} {
		refused(query, "10.0.1."+strconv.Itoa(i), 429, "Too many WebSockets of this user (limit 3)")
	}
	for i := range 5 {
		must("userId=v"+strconv.Itoa(i), "10.1.0.1")
	}
	refused("userId=w", "10.1.0.1", 429, "Too many WebSockets from this address (limit 5)")
	refused("userId=w", "9.9.9.9, 10.1.0.1", 429, "Too many WebSockets from this address (limit 5)")
	for i := range 4 {
		must("userId=x"+strconv.Itoa(i), "10.2.0."+strconv.Itoa(i))
	}
	refused("userId=y", "10.3.0.1", 503, "The server has too many WebSockets (limit 12)")
	if status, _ := harness.Send(t, s.URL, with(shopKey, "GET", "/api/jobs", nil)); status != 200 {
		t.Errorf("a call of the API was answered %d", status)
	}
	var text string
	harness.Eventually(t, "the last one to be counted", func() bool { // a handshake is answered before its client is registered
		_, _, text, _ = once(t, "GET", s.OperatorURL+"/metrics", "", "")
		return strings.Contains(text, "ringback_websocket_clients 12")
	})
	for _, want := range []string{`ringback_websockets_refused_total{limit="user"} 11`, `ringback_websockets_refused_total{limit="address"} 2`, `ringback_websockets_refused_total{limit="node"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics does not say %s:\n%s", want, regexp.MustCompile(`(?m)^ringback_(web|conn|calls).*$`).FindAllString(text, -1))
		}
	}
	held[0].Close()
	harness.Eventually(t, "the place to be free", func() bool {
		conn, status, _, _ := open(t, s, "userId=u1", key("10.4.0.1"))
		if conn != nil {
			t.Cleanup(func() { conn.Close() })
		}
		return status == 101
	})
	for _, conn := range held {
		conn.Close()
	}
}

// A crowd at the operators' listener shuts neither it nor the others.
func TestCrowdsAtTheDoorOfOperators(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"CLAUDE_BIN": "simulate"}, nil)
	for what, text := range map[string]string{"silent": "", "half a head": "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-"} {
		var many crowd
		for range 60 {
			many.say(strings.TrimPrefix(s.OperatorURL, "http://"), text)
		}
		for _, url := range []string{s.OperatorURL + "/readyz", s.URL + "/api/jobs"} {
			if status, _, text, err := once(t, "GET", url, "", ""); status != 200 {
				t.Errorf("%s: %s answered %d %s %v", what, url, status, text, err)
			}
		}
		many.goHome()
	}
}
