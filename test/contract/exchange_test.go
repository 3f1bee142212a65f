package contract

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// session is a server with its contracts.
type session struct {
	*testing.T
	server *harness.Server
	http   *document
	// seen contains the operations that were answered without an error.
	seen map[string]bool
	// recorded contains the first exchange of each of these, by operation id.
	recorded map[string]exchange
}

// exchange is a request and its answer.
type exchange struct {
	Request any `json:"request,omitempty"`
	Status  int `json:"status"`
	Answer  any `json:"answer,omitempty"`
}

func newSession(t *testing.T, s *harness.Server) *session {
	t.Helper()
	return &session{t, s, readDocument(t, "openapi.json", harness.Text(t, s.URL+"/openapi.json")), map[string]bool{}, map[string]exchange{}}
}

// call is one request for an operation.
type call struct {
	op string
	// path contains its path parameters, query the others.
	path  object
	query url.Values
	// body is JSON unless it is a string.
	body   any
	header map[string]string
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// send makes a call, and checks the answer against the contract.
func (s *session) send(c call) (int, []byte) {
	s.Helper()
	op, known := s.http.operations[c.op]
	if !known {
		s.Fatalf("the contract has no operation %s", c.op)
	}
	address := parameter.ReplaceAllStringFunc(op.path, func(name string) string {
		text, _ := c.path[strings.Trim(name, "{}")].(string)
		if name == "{path}" {
			return text
		}
		return url.PathEscape(text)
	})
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	var body io.Reader
	contentType := "application/json"
	switch b := c.body.(type) {
	case nil:
	case string:
		body, contentType = strings.NewReader(b), "application/x-www-form-urlencoded"
	default:
		text, err := json.Marshal(b)
		must.OK(s, err)
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(s.Context(), op.method, s.server.URL+address, body)
	must.OK(s, err)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must.OK(s, err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		s.seen[c.op] = true
		return resp.StatusCode, nil
	}
	text, err := io.ReadAll(resp.Body)
	must.OK(s, err)
	// In a terminal, the next prompt must be on its own line.
	if op.method != http.MethodHead && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && !strings.HasPrefix(c.op, "getFile") && !bytes.HasSuffix(text, []byte("\n")) {
		s.Errorf("%s %s was answered %d without a newline at its end: %s", op.method, address, resp.StatusCode, text)
	}
	if fault := s.http.answerFault(op, resp.StatusCode, resp.Header.Get("Content-Type"), text); fault != "" {
		s.Errorf("%s %s with %v: not in the contract: %s", op.method, address, c.body, fault)
	}
	if resp.StatusCode >= 500 && c.op != "probe" {
		s.Errorf("%s %s with %v was answered %d %s", op.method, address, c.body, resp.StatusCode, text)
	}
	if resp.StatusCode < 300 {
		if !s.seen[c.op] {
			s.recorded[c.op] = exchange{c.body, resp.StatusCode, decodedAny(text)}
		}
		s.seen[c.op] = true
	}
	return resp.StatusCode, text
}

// want sends a call that must be answered with the given status.
func (s *session) want(status int, c call) object {
	s.Helper()
	got, text := s.send(c)
	if got != status {
		s.Fatalf("%s was answered %d, want %d: %s", c.op, got, status, text)
	}
	answer, _ := decodedAny(text).(object)
	return answer
}

// manual starts a job for which the test plays Claude, and returns its id and the envelope
// of its callbacks.
func (s *session) manual(kind string, input object) (string, object) {
	s.Helper()
	body := object{"kind": kind, "input": input, "userId": "u1", "sessionId": "s1", "options": object{"simulate": "manual"}}
	id := s.want(202, call{op: "createJob", body: body})["requestId"].(string)
	s.until(id, "running")
	hmac := s.want(200, call{op: "getCallback", path: object{"requestId": id}})["hmac"]
	return id, object{"requestId": id, "hmac": hmac}
}

// until waits until a job is in a state, and returns it.
func (s *session) until(id, state string) (job object) {
	s.Helper()
	harness.Eventually(s, "the job to be "+state, func() bool {
		job = s.want(200, call{op: "getJob", path: object{"requestId": id}})
		return job["status"] == state
	})
	return job
}
