package door_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/sandbox/door"
	"ringback/test/must"
)

// ask requests a host from the proxy of a sandbox, and returns the response.
func ask(t *testing.T, w door.Way, host string) (status int, text string) {
	t.Helper()
	answer, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodConnect, "/", nil)
	r.Host = host
	w.Proxy.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

// A host that is not listed is refused, and the response, the log and the program's report
// contain the setting that would allow it.
func TestARefusalSaysWhatToSet(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	doors := door.Doors{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for name, way := range map[string]door.Way{
		"a turn":                  doors.OfTurn("req_1", nil, door.Model{Hosts: []string{"api.anthropic.com"}}),
		"a turn with a list":      doors.OfTurn("req_1", job.Network{"example.org"}, door.Model{}),
		"a turn with none":        doors.OfTurn("req_1", job.Network{job.NoNetwork}, door.Model{}),
		"a verifier":              doors.OfVerifier("req_1", nil),
		"the action deploy":       doors.OfAction("req_1", "deploy", nil),
		"a verifier with its own": doors.OfVerifier("req_1", job.Network{"example.org"}),
	} {
		log.Reset()
		status, text := ask(t, way, "pastebin.example:443")
		const want = `The list of hosts under "network" of `
		if status != http.StatusForbidden || !strings.Contains(text, "pastebin.example:443 cannot be reached from here. "+want) {
			t.Errorf("%s was answered %d %q", name, status, text)
		}
		if !strings.Contains(way.Refused(), "Not reached: pastebin.example:443. "+want) || !strings.Contains(log.String(), "host=pastebin.example:443") || !strings.Contains(log.String(), "requestId=req_1") {
			t.Errorf("of %s is said %q, and in the log %q", name, way.Refused(), &log)
		}
		_, _ = ask(t, way, "pastebin.example:443")
		must.Equal(t, 1, strings.Count(log.String(), "\n"), "lines in the log")
	}
}

// Verifiers can reach the operator's own registry like public ones.
func TestTheOperatorsRegistry(t *testing.T) {
	t.Parallel()
	doors := door.Doors{Environ: []string{"GOPROXY=https://goproxy.invalid:8443|direct"}}
	for host, want := range map[string]int{"goproxy.invalid:8443": http.StatusBadGateway, "goproxy.invalid:443": http.StatusForbidden} {
		status, text := ask(t, doors.OfVerifier("req_1", nil), host)
		must.Equal(t, want, status, host, text)
		status, _ = ask(t, doors.OfVerifier("req_1", job.Network{"example.org"}), host)
		must.Equal(t, http.StatusForbidden, status, "beside a list:", host)
	}
}

// A full network does not include the addresses of this machine.
func TestFullIsWhatIsPublic(t *testing.T) {
	t.Parallel()
	way := door.Doors{}.OfTurn("req_1", job.Network{job.FullNetwork}, door.Model{Local: []string{"localhost:8080", "127.0.0.1:302", "x"}})
	if len(way.Doors) != 3 || way.Doors[2].Port != 8080 {
		t.Errorf("the doors are %+v", way.Doors)
	}
	for _, host := range []string{"127.0.0.1:3001", "localhost:3001", "169.254.169.254:80", "[::1]:3001"} {
		if status, text := ask(t, way, host); status != http.StatusForbidden || !strings.Contains(text, "not public, or to this machine") {
			t.Errorf("%s was answered %d %q", host, status, text)
		}
	}
}
