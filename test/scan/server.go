package scan

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Suite is the scan of all tests of a package except those of the scan itself: its findings
// make them fail.
var Suite = New()

// Secrets are given to each server that tests start, and searched for when it has ended.
var Secrets = map[string]string{
	"WEBHOOK_SECRET": "planted/webhook+secret&<1>", "GH_TOKEN": "ghp_planted/of+git", "ANTHROPIC_API_KEY": "sk-planted/of&the+model",
	"DATABASE_PASSWORD": `planted "password" of another program's`,
}

// RedisPassword is the password of each Redis that tests start.
const RedisPassword = "planted-Redis-password"

// Server is a server that is scanned for its secrets.
type Server struct {
	scan *Scan
	dir  string
	log  fmt.Stringer
	// InProcesses returns the findings in its child processes so far.
	InProcesses func() []string
	stop        func()

	mu sync.Mutex
	// shown are the findings made while it ran.
	shown []string
}

// Server starts scanning a server that has just been started: the processes that it starts,
// and, by Look, what it sends. Its variables were planted before; dir is its DATA_DIR.
func (s *Scan) Server(pid int, dir string, log fmt.Stringer) *Server {
	v := &Server{scan: s, dir: dir, log: log}
	v.InProcesses, v.stop = s.Watch(pid)
	return v
}

// Look searches what the server has sent.
func (v *Server) Look(t testing.TB, p Place, text []byte) {
	t.Helper()
	leaks := v.scan.Look(p, text)
	if v.scan == Suite {
		report(t, leaks, nil)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown = append(v.shown, leaks...)
}

// Leaks returns the secrets that the server, which must have ended, and its children have
// put in forbidden places. Those of turns are included if it has its own store; otherwise
// Store finds them.
func (v *Server) Leaks() ([]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop()
	found := slices.Concat(v.shown, v.InProcesses(), v.scan.Look(Place{Where: Log}, []byte(v.log.String())))
	inFiles, err := v.scan.Files(v.dir)
	if err != nil {
		return nil, err
	}
	inStore, err := v.scan.Store(filepath.Join(v.dir, "redis"))
	return slices.Concat(found, inFiles, inStore), err
}

// Want fails the test if there are leaks, unless it is a test of the scan itself.
func (v *Server) Want(t testing.TB) {
	t.Helper()
	if v.scan == Suite {
		leaks, err := v.Leaks()
		report(t, leaks, err)
	}
}

// WantStore is Store, and fails the test if there are leaks, unless it is a test of the
// scan itself.
func (s *Scan) WantStore(t testing.TB, dir string) {
	t.Helper()
	if s == Suite {
		leaks, err := s.Store(dir)
		report(t, leaks, err)
	}
}

func report(t testing.TB, leaks []string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("looking for secrets: %v", err)
	}
	for _, leak := range leaks {
		t.Errorf("a secret is where it may not be: %s", leak)
	}
}
