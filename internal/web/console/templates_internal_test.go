package console

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/jba/templatecheck"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/must"
)

// The templates name only fields and methods that exist, also where no test renders them.
func TestTemplatesMatchTheirData(t *testing.T) {
	t.Parallel()
	data := map[string]any{
		"again": nil, "approvals": approvalsView{}, "bulk": bulkView{}, "checkpoint": question{}, "docs": docsView{},
		"error": refusal{}, "inbox": inboxView{}, "jobs": jobList{}, "kinds": []client.Kind{}, "leave": leaveView{},
		"new_job": startForm{}, "overview": overviewView{}, "sign_in": signInForm{},
	}
	for _, tab := range []string{"conversation", "review", "timeline", "files", "transcript", "audit"} {
		data["job_"+tab] = jobView{}
	}
	for name, page := range New(Options{}, nil).pages() {
		shown, ok := data[name]
		if !ok {
			t.Errorf("the data of page %s is not listed here", name)
			continue
		}
		if err := templatecheck.CheckHTML(page.Lookup("layout"), with(shown)); err != nil {
			t.Error(name, err)
		}
	}
}

// with returns a page whose data has the type of a value, for a check that follows types.
func with(data any) any {
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(reflect.TypeFor[page]()) {
		if field.Name == "Data" && data != nil {
			field.Type = reflect.TypeOf(data)
		}
		fields = append(fields, field)
	}
	return reflect.New(reflect.StructOf(fields)).Elem().Interface()
}

func TestTurnsAreCountedByTheirBeginnings(t *testing.T) {
	t.Parallel()
	turns := turnsOf(`{"type":"system","subtype":"init"}
{"type":"assistant"}
{"type":"system","subtype":"init"}
{"type":"result","total_cost_usd":0.5,"usage":{"input_tokens":10,"cache_read_input_tokens":70,"cache_creation_input_tokens":20}}
`)
	if len(turns) != 1 || turns[0].Turn != 2 || turns[0].InputTokens != 100 || turns[0].CacheReadTokens != 70 {
		t.Errorf("after a turn that was cut off, the next one is %+v", turns)
	}
}

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
