package messagesapi

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ringback/test/must"
)

// Server is a scripted Messages API.
type Server struct {
	// URL is its base URL, for ANTHROPIC_BASE_URL.
	URL string

	ids    atomic.Int64
	closed chan struct{}

	scripting sync.Mutex // held while the script runs
	script    Script

	mu       sync.Mutex
	requests []Request
	served   Usage
}

// Start runs a server until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	return StartAt(t, "127.0.0.1", script)
}

// StartAt is Start at an address of this machine that other hosts can reach.
func StartAt(t testing.TB, addr string, script Script) *Server {
	t.Helper()
	s := &Server{script: script, closed: make(chan struct{})}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(addr, "0"))
	must.OK(t, err)
	srv := httptest.NewUnstartedServer(s)
	_ = srv.Listener.Close()
	srv.Listener = listener
	srv.Start()
	t.Cleanup(func() {
		close(s.closed) // otherwise hanging replies would keep the server open
		srv.Close()
	})
	s.URL = srv.URL
	return s
}

// Requests returns the requests to the script so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Served returns the usage of all replies that were started.
func (s *Server) Served() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

func (s *Server) serve(u Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served.Input += u.Input
	s.served.Output += u.Output
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var in body
	_ = json.Unmarshal(raw, &in) // other endpoints have other bodies
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": 100})
	case strings.HasSuffix(r.URL.Path, "/messages"):
		s.serveMessages(w, r, in, len(raw))
	default:
		writeJSON(w, http.StatusOK, map[string]any{})
	}
}

func (s *Server) serveMessages(w http.ResponseWriter, r *http.Request, in body, size int) {
	reply := Say("ok")
	if len(in.Tools) > 0 { // without tools it is a request for a title, a summary and the like
		asked := in.request()
		asked.Size = size
		reply = s.ask(asked)
	}
	switch {
	case reply.hang:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case reply.status != 0:
		writeError(w, reply)
	case in.Stream:
		s.stream(w, reply)
	default:
		s.serve(usageOf(reply))
		writeJSON(w, http.StatusOK, s.message(reply))
	}
}

func (s *Server) ask(r Request) Reply {
	s.scripting.Lock()
	defer s.scripting.Unlock()
	return s.script(s.record(r))
}

func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Turn = len(s.requests) + 1
	s.requests = append(s.requests, r)
	return r
}
