package httpjson_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/httpjson"
	"ringback/test/must"
)

// A callback sent to the API's address gets a hint that callbacks have another address.
func TestWhatIsNotHereIsSaidToBeElsewhere(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/api/claude/result": "CALLBACK_LISTEN_ADDR", "/api/job": "docs/api.md"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, http.NoBody)
		e, _ := httpjson.AsError(echo.ErrNotFound, r)
		must.Contain(t, e.Message, path)
		must.Contain(t, e.Hint, want)
	}
}

func TestAWrongPathNamesTheOneThatWasMeant(t *testing.T) {
	t.Parallel()
	e := echo.New()
	for _, path := range []string{"/api/jobs", "/api/jobs/:id", "/api/suggestions", "/jobs"} {
		e.POST(path, func(echo.Context) error { return nil })
	}
	for path, want := range map[string]string{
		"/api/job": "Did you mean /api/jobs? ", "/api/suggestion": "Did you mean /api/suggestions? ",
		"/v1/suggestions": "Did you mean /api/suggestions? ", "/api/nothing/like/it": "/docs of this server",
	} {
		c := e.NewContext(httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, http.NoBody), httptest.NewRecorder())
		hint := httpjson.Refuse(slog.New(slog.DiscardHandler), echo.ErrNotFound, c).Hint
		if !strings.HasPrefix(hint, want) {
			t.Errorf("%s: the hint is %q, want %q", path, hint, want)
		}
	}
}
