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

// Any client may forge X-Forwarded-For: it counts only as far as known proxies have written
// it.
func TestForwardedAddressesOfStrangersDoNotCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proxies            []string
		from, header, want string
	}{
		"nobody is trusted":               {nil, "127.0.0.1:9", "1.2.3.4", "127.0.0.1"},
		"nor a private address":           {nil, "10.0.0.5:9", "1.2.3.4", "10.0.0.5"},
		"a proxy":                         {[]string{"10.0.0.5"}, "10.0.0.5:9", "1.2.3.4", "1.2.3.4"},
		"a network of them":               {[]string{"10.0.0.0/8"}, "10.9.9.9:9", "1.2.3.4", "1.2.3.4"},
		"an IPv6 proxy":                   {[]string{"fd00::5"}, "[fd00::5]:9", "1.2.3.4", "1.2.3.4"},
		"beside it":                       {[]string{"10.0.0.5"}, "10.0.0.6:9", "1.2.3.4", "10.0.0.6"},
		"loopback is not by itself":       {[]string{"10.0.0.5"}, "127.0.0.1:9", "1.2.3.4", "127.0.0.1"},
		"what came before the proxy's":    {[]string{"10.0.0.5"}, "10.0.0.5:9", "6.6.6.6, 1.2.3.4", "1.2.3.4"},
		"a stranger who names a proxy":    {[]string{"10.0.0.5"}, "1.2.3.4:9", "10.0.0.5", "1.2.3.4"},
		"through two proxies":             {[]string{"10.0.0.0/8"}, "10.0.0.5:9", "1.2.3.4, 10.0.0.6", "1.2.3.4"},
		"what is no address":              {[]string{"10.0.0.5"}, "10.0.0.5:9", "evil", "10.0.0.5"},
		"a proxy that says nothing of it": {[]string{"10.0.0.5"}, "10.0.0.5:9", "", "10.0.0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.RemoteAddr = c.from
			r.Header.Set("X-Forwarded-For", c.header)
			r.Header.Set("X-Real-Ip", "7.7.7.7")
			must.Equal(t, c.want, guard.Addresses(c.proxies)(r))
		})
	}
}

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
