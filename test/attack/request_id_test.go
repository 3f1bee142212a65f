package attack

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// Each answer has the id of its request, whoever asks at whatever listener, and however it is answered.
func TestEveryAnswerHasTheIDOfItsRequest(t *testing.T) {
	t.Parallel()
	one, next := harness.FreePorts(t)
	s := harness.Start(t, harness.Vars{
		"LISTEN_ADDR": "127.0.0.1:" + one, "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + next, "CALLBACK_BASE_URL": "http://127.0.0.1:" + next,
		"API_KEYS": backendKey, "CORS_ORIGINS": "https://app.example",
	}, nil)
	refused := harness.Exchange(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Body: harness.Object{}, Header: map[string]string{"X-Request-Id": "of-the-refused"}})
	must.Equal(t, http.StatusUnauthorized, refused.Status)
	harness.Eventually(t, "the log to have the id", func() bool { return strings.Contains(s.Log.String(), "xRequestId=of-the-refused") })
	routes := append(documentedRoutes(t),
		harness.Request{Method: "GET", Path: "/nothing/here"}, harness.Request{Method: "DELETE", Path: "/healthz"}, harness.Request{Method: "OPTIONS", Path: "/api/jobs"},
		harness.Request{Method: "GET", Path: "/metrics"}, harness.Request{Method: "GET", Path: "/readyz"}, harness.Request{Method: "PUT", Path: "/log-level", Body: "LOUD"},
		harness.Request{Method: "GET", Path: "/debug/pprof/heap"}, harness.Request{Method: "GET", Path: "/"}, harness.Request{Method: "GET", Path: "/client.js"},
	)
	n := 0
	for _, url := range []string{s.URL, s.CallbackURL, s.OperatorURL} {
		for _, header := range []string{
			"Host: localhost\r\n", "Host: localhost\r\nAuthorization: Bearer " + backendKey + "\r\n", "Host: evil.example\r\n",
			"Host: localhost\r\nOrigin: https://evil.example\r\n",
		} {
			for _, r := range routes {
				n++
				id := fmt.Sprint("mine-", n)
				got := answerTo(t, url, r.Method+" "+r.Path+" HTTP/1.1\r\n"+header+"X-Request-Id: "+id+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				must.Equal(t, id, got.Header.Get("X-Request-Id"), url, r.Method, r.Path, header, "was answered", got.Status)
			}
		}
	}
	for name, query := range map[string]string{"a WebSocket": "?userId=u1", "one that is closed at once": "?userId=u1&since=x"} {
		got := answerTo(t, s.URL, "GET /ws"+query+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+backendKey+
			"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
		must.Equal(t, http.StatusSwitchingProtocols, got.StatusCode, name)
		must.Equal(t, true, got.Header.Get("X-Request-Id") != "", name, "has an id")
	}
}

// answerTo sends a request as it is written, and returns the head of the answer.
func answerTo(t *testing.T, url, request string) *http.Response {
	t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(harness.Patience))
	fmt.Fprint(conn, request)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.OK(t, err, request)
	_ = resp.Body.Close()
	return resp
}
