package httpjson_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
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
