package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringback/test/must"

	"github.com/labstack/echo/v4"
)

// The page for an internal error contains an ID to look for in the log, and does not reveal the
// error.
func TestAFaultOfOursIsAPage(t *testing.T) {
	t.Parallel()
	c := New(Options{API: http.NotFoundHandler(), Open: true, MarkFunc: func(ctx context.Context) context.Context { return ctx }}, slog.New(slog.DiscardHandler))
	e := echo.New()
	e.GET("/jobs", c.page(func(*visit) error { return errors.New("the password is sesame") }))
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/jobs?status=failed", nil))
	text := w.Body.String()
	if w.Code != http.StatusInternalServerError || strings.Contains(text, "sesame") {
		t.Errorf("the answer is %d: %s", w.Code, text)
	}
	for _, want := range []string{"Internal server error", "search it for fault", `href="/jobs?status=failed">Try again`, `id="refusal"`} {
		must.Contain(t, text, want, "the page has no")
	}
}
