package guard

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// forwardedFor are the headers in which a proxy names its client.
var forwardedFor = []string{echo.HeaderXForwardedFor, echo.HeaderXRealIP, "Forwarded", "CF-Connecting-IP", "True-Client-IP"}

// RefuseForwarded rejects requests that a proxy forwards for other machines, except on
// these routes. It is for a server without keys, which trusts every client on loopback.
func RefuseForwarded(routes ...string) Check {
	return func(c echo.Context) error {
		if slices.Contains(routes, c.Path()) || !forElsewhere(c) {
			return nil
		}
		return job.Errorf(job.Forbidden, "A proxy passed this on for another machine, and this server has no keys").
			WithHint("Set API_KEYS, API_KEYS_FILE or JWT_SECRET where others can reach the server, or call it directly.")
	}
}

// forElsewhere reports whether a proxy names a client other than this machine. The proxies
// of development servers, which run on the browser's machine, name loopback.
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

// isLocal reports whether a hop in such a header is this machine, or a parameter that does
// not describe the client.
func isLocal(hop string) bool {
	hop = strings.TrimSpace(hop)
	if parameter, value, ok := strings.Cut(hop, "="); ok { // in the format of RFC 7239
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
