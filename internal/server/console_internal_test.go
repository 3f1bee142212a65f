package server

import (
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/console"
	"ringback/test/must"
)

// The documentation of the console contains every page.
func TestEveryPageIsDocumented(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/console.md"))(t)
	e := echo.New()
	console.New(console.Options{}, slog.New(slog.DiscardHandler)).Register(e)
	for _, r := range e.Routes() {
		page := r.Method == http.MethodGet && !strings.HasPrefix(r.Path, "/static") && !strings.HasPrefix(r.Path, "/clients") && !strings.HasSuffix(r.Path, "*") && r.Path != "/sign-in"
		if page && !strings.Contains(string(text), "`"+r.Path+"`") {
			t.Errorf("docs/console.md has no `%s`", r.Path)
		}
	}
}
