package guard_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/web/guard"
)

// The error tells the developer of a page what to configure.
func TestARefusedPageIsToldWhatLetsItIn(t *testing.T) {
	t.Parallel()
	check := guard.NewOrigins([]string{"https://app.example"}).Check
	for origin, want := range map[string]string{
		"http://localhost:8080":                  `Add "http://localhost:8080" to CORS_ORIGINS`,
		"null":                                   "opened from a file",
		"https://" + strings.Repeat("x", 10_000): `Add "https://xxx`,
		"https://app.example":                    "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:3001/api/jobs", http.NoBody)
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		err := check(echo.New().NewContext(r, httptest.NewRecorder()))
		refused, isRefused := errors.AsType[*job.Error](err)
		if isRefused != (want != "") || isRefused && (!strings.Contains(refused.Hint, want) || len(refused.Hint) > 500) {
			t.Errorf("a page of %.40s was told %v, want %q", origin, err, want)
		}
	}
}
