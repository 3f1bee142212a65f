package claude_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/turn/claude"
	"ringback/test/messagesapi"
	"ringback/test/must"
)

// recordingProxy refuses every request and records the requested hosts.
func recordingProxy(t *testing.T) (url string, hosts func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host)
		mu.Unlock()
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

func TestCLITalksToNobodyElse(t *testing.T) {
	t.Parallel()
	var first time.Time
	api := messagesapi.Start(t, func(messagesapi.Request) messagesapi.Reply {
		if first.IsZero() {
			first = time.Now()
		}
		return messagesapi.Say("done")
	})
	proxy, hosts := recordingProxy(t)
	s := newSession(t, api, haiku(t), "http://localhost:3001")
	s.env = claude.Environ(append(api.Env(t), "HTTPS_PROXY="+proxy, "HTTP_PROXY="+proxy), 0)
	begin := time.Now()
	if exit := s.run(t, s.first(t)); exit.Code != 0 {
		t.Fatalf("the CLI ended with %+v", exit)
	}
	t.Logf("first request after %s", first.Sub(begin).Round(time.Millisecond))
	must.Equal(t, []string(nil), hosts(), "the CLI asked for other hosts")
}

// With the API at its usual address, the CLI contacts only the API.
func TestCLITalksToTheAPIAlone(t *testing.T) {
	t.Parallel()
	api := messagesapi.Start(t, messagesapi.Steps(messagesapi.Say("done")))
	proxy, hosts := recordingProxy(t)
	s := newSession(t, api, haiku(t), "http://localhost:3001")
	env := slices.DeleteFunc(api.Env(t), func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_BASE_URL=") })
	s.env = claude.Environ(append(env, "HTTPS_PROXY="+proxy, "HTTP_PROXY="+proxy, "CLAUDE_CODE_MAX_RETRIES=0"), 0)
	if exit := s.run(t, s.first(t)); exit.Code == 0 {
		t.Fatal("the CLI succeeded without an API")
	}
	asked := hosts()
	must.Equal(t, []string{"CONNECT api.anthropic.com:443"}, slices.Compact(slices.Sorted(slices.Values(asked))), "the CLI asked for other hosts")
	t.Logf("asked for %q", asked)
}

func TestOperatorMayTurnTheCLIsTrafficOn(t *testing.T) {
	t.Parallel()
	env := claude.Environ([]string{"DISABLE_TELEMETRY=", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=0"}, 0)
	for _, want := range []string{"DISABLE_TELEMETRY=", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=0", "DISABLE_AUTOUPDATER=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("the CLI's environment lacks %s: %q", want, env)
		}
	}
}
