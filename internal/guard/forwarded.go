package guard

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// forwardedFor are the headers in which a proxy says for whom it calls.
var forwardedFor = []string{echo.HeaderXForwardedFor, echo.HeaderXRealIP, "Forwarded", "CF-Connecting-IP", "True-Client-IP"}

// RefuseForwarded refuses what a proxy passes on for other machines, except on these routes. It is
// for a server without keys, which trusts whoever reaches loopback.
func RefuseForwarded(routes ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if slices.Contains(routes, c.Path()) || !forElsewhere(c) {
				return next(c)
			}
			return job.Errorf(job.Forbidden, "A proxy passed this on for another machine, and this server has no keys").
				WithHint("Set API_KEYS, API_KEYS_FILE or JWT_SECRET where others can reach the server, or call it directly.")
		}
	}
}

// forElsewhere reports whether a proxy names anybody but this machine. Proxies of development
// servers, which run beside the browser, name loopback.
func forElsewhere(c echo.Context) bool {
	for _, name := range forwardedFor {
		for _, value := range c.Request().Header.Values(name) {
			for hop := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
				if !isLocal(hop) {
					return true
				}
			}
		}
	}
	return false
}

// isLocal reports whether a hop of such a header is this machine, or says of something else
// than of the client.
func isLocal(hop string) bool {
	hop = strings.TrimSpace(hop)
	if parameter, value, ok := strings.Cut(hop, "="); ok { // as RFC 7239 writes them
		if !strings.EqualFold(strings.TrimSpace(parameter), "for") {
			return true
		}
		hop = strings.Trim(strings.TrimSpace(value), `"`)
	}
	if host, _, err := net.SplitHostPort(hop); err == nil {
		hop = host
	}
	ip, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return hop == "" || strings.EqualFold(hop, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
