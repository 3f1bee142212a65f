package httpjson_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
)

// Whoever calls back to the address of the API is told that callbacks arrive elsewhere.
func TestWhatIsNotHereIsSaidToBeElsewhere(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/api/claude/result": "CALLBACK_LISTEN_ADDR", "/api/job": "docs/api.md"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, http.NoBody)
		e, _ := httpjson.AsError(echo.ErrNotFound, r)
		if !strings.Contains(e.Message, path) || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %s (%s), want %s", path, e.Message, e.Hint, want)
		}
	}
}
