package console

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Behind a proxy that serves the console below a path, every path of a page and every redirect stays
// below it. A header that is no plain path is ignored: it could lead elsewhere, or end an attribute.
func TestAConsoleBelowAPath(t *testing.T) {
	t.Parallel()
	paths := regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)
	for given, mount := range map[string]string{
		"": "", "/": "", "/ringback": "/ringback", "/ringback/": "/ringback", "/tools/ring.back-2": "/tools/ring.back-2",
		"//evil.example": "", "/a//b": "", "/../a": "", "/a/./b": "", "a": "", "https://evil.example": "", `/a"><script>`: "", "/a%2fb": "", "/a b": "",
	} {
		s := newStage(t)
		ask := func(method, path, body string) *httptest.ResponseRecorder {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("X-Forwarded-Prefix", given)
			if body != "" {
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			s.console.ServeHTTP(w, r)
			return w
		}
		s.answers = map[string]any{
			"/api/jobs/x": job.Job{ID: "x", Kind: "k", State: job.Received}, "/api/jobs/x/audit": job.AuditEntry{Event: "asked", CheckpointID: "chk"},
			"/api/jobs/x/files": map[string]any{"files": []map[string]any{{"path": "a/b"}}},
		}
		for page, least := range map[string]int{"/jobs/new/k": 10, "/jobs/x/audit": 15, "/jobs/x/files": 15, "/inbox/chk": 10} {
			found := paths.FindAllStringSubmatch(ask(http.MethodGet, page, "").Body.String(), -1)
			if len(found) < least {
				t.Fatalf("with %q, %s has the paths %q", given, page, found)
			}
			for _, path := range found {
				if !strings.HasPrefix(path[1], mount+"/") || mount == "" && strings.HasPrefix(path[1], "//") {
					t.Errorf("with %q, %s leads to %s", given, page, path[1])
				}
			}
		}
		must.Equal(t, mount+"/", ask(http.MethodGet, "/sign-in", "").Header().Get("Location"), "with", given, "it redirects to")
	}
}
