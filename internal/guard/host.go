package guard

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// Hosts returns a check that rejects requests for a host name other than those of this machine
// and the given ones.
//
// A page of any site can have its own name resolve to 127.0.0.1 (DNS rebinding). The
// browser then considers the server the page's own origin, and no rule about origins stops
// it. But the header Host still contains that name.
func Hosts(names []string) Check {
	known := map[string]bool{}
	for _, name := range names {
		known[strings.ToLower(strings.Trim(name, "[]"))] = true
	}
	return func(c echo.Context) error {
		if sent := c.Request().Host; !isOneOf(known, sent) {
			return job.Errorf(job.Forbidden, "This server does not answer to the host %q", sent).
				WithHint("Call it by a name of its machine, such as localhost. If this is a name of its own, add it to ALLOWED_HOSTS.")
		}
		return nil
	}
}

// isOneOf reports whether a Host header, with or without a port, has one of the names, or one of
// this machine.
func isOneOf(names map[string]bool, sent string) bool {
	name, ok := hostname(sent)
	if !ok {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || names[name] {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// hostname returns the name in a Host header, in lower case and without the port; false if
// it is malformed.
func hostname(sent string) (string, bool) {
	u, err := url.Parse("http://" + sent)
	if err != nil || u.Host != sent {
		return "", false
	}
	name := strings.ToLower(u.Hostname())
	return name, name != "" && name[0] != '.'
}
