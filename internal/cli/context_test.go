package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/test/must"
)

// tokensOf returns the tokens that a server received.
func tokensOf(f *stub) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tokens)
}

// A context names a server with its token. The token is in a file that only its owner can read, and
// is sent to that server only, whatever else selects a server.
func TestContexts(t *testing.T) {
	t.Parallel()
	local, prod, other := newStub(t), newStub(t), newStub(t)
	s := newConsole(t, "")
	s.stdin = "secret-of-prod\n"
	for _, line := range [][]string{
		{"context", "set", "prod", "--server", prod.URL, "--token", "-", "--user", "u7"},
		{"context", "set", "local", "--server", local.URL},
	} {
		if got := s.run(t, line...); got.code != 0 || strings.Contains(got.stdout+got.stderr, "secret-of-prod") {
			t.Fatalf("%v: exit code %d, prints %q, says %q", line, got.code, got.stdout, got.stderr)
		}
	}
	file := filepath.Join(s.defaults.StateDir, "contexts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info, err)
	}
	want := "\tCONTEXT\tSERVER\tUSER\tTOKEN\n\tlocal\t" + local.URL + "\t\tnone\n*\tprod\t" + prod.URL + "\tu7\tkept\n"
	must.Equal(t, want, s.run(t, "context").stdout)
	if got := s.run(t, "context", "-o", "json"); strings.Contains(got.stdout, "secret") || !strings.Contains(got.stdout, `"token": true`) {
		t.Errorf("as JSON: %q", got.stdout)
	}

	s.run(t, "list")
	if got := tokensOf(prod); len(got) != 1 || got[0] != "Bearer secret-of-prod" || !prod.was("GET /api/jobs?limit=20&userId=u7") {
		t.Errorf("the current context was sent %q, asked %v", got, prod.asked)
	}
	s.run(t, "list", "--context", "local")
	s.run(t, "list", "--server", other.URL)
	elsewhere := newConsole(t, other.URL) // RINGBACK_URL
	elsewhere.defaults.StateDir, elsewhere.defaults.Token = s.defaults.StateDir, "secret-of-other"
	elsewhere.run(t, "list")
	elsewhere.run(t, "list", "--context", "local")
	if got := tokensOf(local); len(got) != 2 || got[0]+got[1] != "" {
		t.Errorf("local was sent %q", got)
	}
	if got := tokensOf(other); len(got) != 2 || got[0] != "" || got[1] != "Bearer secret-of-other" {
		t.Errorf("other was sent %q", got)
	}
	if s.run(t, "context", "use", "local"); s.run(t, "__complete", "status", "").stdout == ":36\n" || len(tokensOf(local)) != 3 {
		t.Errorf("completion does not ask the current context: %q", tokensOf(local))
	}
	// If the context is set to another server, that server does not get the previous token.
	s.run(t, "context", "set", "prod", "--server", other.URL)
	must.Contain(t, s.run(t, "context").stdout, other.URL+"\tu7\tnone")

	for says, line := range map[string][]string{
		"There is no context pord; there are: local, prod": {"list", "--context", "pord"},
		"--context cannot be combined with --server":       {"list", "--context", "prod", "--server", other.URL},
		"Which server?":                 {"context", "set", "new"},
		"takes the name of one context": {"context", "use"},
	} {
		s.run(t, line...).exits(t, 2, says, line)
	}
	must.OK(t, os.Chmod(file, 0o644)) // as a user may have left it
	s.run(t, "list").exits(t, 2, "chmod 600", "a file that others read:")
}
