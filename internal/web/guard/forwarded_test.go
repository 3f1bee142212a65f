package guard_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/web/guard"
	"ringback/test/must"
)

func TestWhatAProxyPassesOnForOthersIsRefused(t *testing.T) {
	t.Parallel()
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		status := http.StatusTeapot
		if refusal, ok := errors.AsType[*job.Error](err); ok && refusal.Kind == job.Forbidden {
			status = http.StatusForbidden
		}
		_ = c.NoContent(status)
	}
	e.Use(guard.Checks(guard.RefuseForwarded("/open")))
	e.GET("/*", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/open", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	status := func(path, name, value string) int {
		r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
		if name != "" {
			r.Header.Set(name, value)
		}
		e.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"", "", 200},
		{"X-Forwarded-For", "", 200},
		{"X-Forwarded-For", "127.0.0.1", 200},
		{"X-Forwarded-For", "::1, ::ffff:127.0.0.1, localhost", 200},
		{"X-Forwarded-For", "127.0.0.1:4711, [::1]:80", 200},
		{"X-Forwarded-For", "203.0.113.7", 403},
		{"X-Forwarded-For", "127.0.0.1, 203.0.113.7", 403},
		{"X-Forwarded-For", "203.0.113.7, 127.0.0.1", 403},
		{"X-Forwarded-For", "unknown", 403},
		{"X-Real-Ip", "10.0.0.1", 403},
		{"Forwarded", `for=127.0.0.1;proto=https;by=203.0.113.1`, 200},
		{"Forwarded", `for="[2001:db8::1]:4711"`, 403},
		{"Forwarded", `for=127.0.0.1, For=203.0.113.7;host=a`, 403},
		{"Cf-Connecting-Ip", "203.0.113.7", 403},
	} {
		must.Equal(t, c.want, status("/api/jobs", c.name, c.value), c.name, c.value)
		must.Equal(t, 200, status("/open", c.name, c.value), c.name, c.value, "where anybody may call")
	}
}
