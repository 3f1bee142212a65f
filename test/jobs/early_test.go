package jobs

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// A person's curl may close its connection before it is answered, or close its half of it: that
// makes nobody a stranger.
func TestACallerThatClosesEarlyIsNotRefused(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	host := strings.TrimPrefix(n.URL, "http://")
	send := func() *net.TCPConn {
		conn, err := net.Dial("tcp", host)
		must.OK(t, err)
		body := rig.JSON(object{"kind": "media", "userId": "u1", "input": object{"prompt": "a lake"}, "options": object{"simulate": "manual"}})
		_, err = fmt.Fprintf(conn, "POST /api/jobs HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", host, len(body), body)
		must.OK(t, err)
		return conn.(*net.TCPConn)
	}
	for range 20 {
		_ = send().Close()
	}
	half := send()
	defer half.Close()
	must.OK(t, half.CloseWrite())
	answer := must.Get(http.ReadResponse(bufio.NewReader(half), nil))(t)
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusOK {
		t.Errorf("who closed only half of it was answered %s", answer.Status)
	}
	n.Create(t, object{"kind": "media", "userId": "u1", "input": object{"prompt": "a lake"}, "options": object{"simulate": "manual"}})
	must.NotContain(t, n.Log.String(), "request refused", "the log")
}
