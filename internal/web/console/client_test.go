package console_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/console"
)

// A page loads the client before anyone has signed in.
func TestAnyoneMayHaveTheClient(t *testing.T) {
	t.Parallel()
	e := echo.New()
	console.New(console.Options{}, slog.New(slog.DiscardHandler)).Register(e)
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/client.js", http.NoBody))
	if kind := answer.Header().Get("Content-Type"); answer.Code != http.StatusOK || !strings.HasPrefix(kind, "text/javascript") || !strings.Contains(answer.Body.String(), "export {") {
		t.Errorf("answered %d, %s: %.80s", answer.Code, kind, answer.Body)
	}
}
