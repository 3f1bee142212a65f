package guard_test

import (
	"net/http/httptest"
	"testing"

	"ringback/internal/web/guard"
	"ringback/test/must"
)

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
