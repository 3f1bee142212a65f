package guard

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/web/httpjson"
)

// Check returns an error for a request that must be refused.
type Check func(c echo.Context) error

// Checks handles only requests that pass all of these checks. They run after routing, in this
// order, in one middleware: echo builds the chain of middlewares again for each request.
func Checks(checks ...Check) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			for _, check := range checks {
				if err := check(c); err != nil {
					return err
				}
			}
			return next(c)
		}
	}
}

// Routes allows only requests of the given routes. It is for the listeners of jobs'
// sandboxes, which may call back and nothing else: Claude must not answer its own
// questions, nor create jobs in another user's name. callerFunc returns the job that calls.
func Routes(log *slog.Logger, callerFunc func(context.Context) job.ID, routes ...string) Check {
	return func(c echo.Context) error {
		if slices.Contains(routes, c.Path()) {
			return nil
		}
		log.WarnContext(
			c.Request().Context(), "call from a job refused", "method", c.Request().Method, "path", c.Request().URL.Path,
			"requestId", callerFunc(c.Request().Context()),
		)
		httpjson.LogsItself(c)
		return job.Errorf(job.Forbidden, "Programs of a job cannot call this").
			WithHint("They can only call the callbacks of their own turn. Everything else is for people and back ends.")
	}
}

// Hosts returns a check that rejects requests for a host name other than those of this machine
// and the given ones, unless they are for one of the probed paths.
//
// A page of any site can have its own name resolve to 127.0.0.1 (DNS rebinding). The
// browser then considers the server the page's own origin, and no rule about origins stops
// it. But the header Host still contains that name.
func Hosts(names []string, probed ...string) Check {
	known := map[string]bool{}
	for _, name := range names {
		known[strings.ToLower(strings.Trim(name, "[]"))] = true
	}
	return func(c echo.Context) error {
		if sent := c.Request().Host; !isOneOf(known, sent) && !slices.Contains(probed, c.Path()) {
			return job.Errorf(job.Forbidden, "This server does not answer to the host %q", sent).
				WithHint("Use a name of its machine, such as localhost. If this is one of its names, add it to ALLOWED_HOSTS.")
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

// Origins contains the origins of pages that may call, in addition to the server's own.
type Origins struct {
	names  []string
	writes *http.CrossOriginProtection
}

// NewOrigins returns the guard for pages of these origins; "*" allows all. An invalid
// origin, which the configuration rejects, allows none.
func NewOrigins(names []string) *Origins {
	o := &Origins{names: names, writes: http.NewCrossOriginProtection()}
	for _, name := range names {
		_ = o.writes.AddTrustedOrigin(name)
	}
	return o
}

// Check rejects changes from pages of other sites. What they may read is enforced by the
// browser, see CORS_ORIGINS.
func (o *Origins) Check(c echo.Context) error {
	if err := o.writes.Check(c.Request()); err != nil && !slices.Contains(o.names, "*") {
		return job.Errorf(job.Forbidden, "Cross-origin request refused").WithHint(
			"%s", wayIn(c.Request().Header.Get(echo.HeaderOrigin)),
		)
	}
	return nil
}

// wayIn returns a hint on how to allow pages of an origin.
func wayIn(origin string) string {
	switch origin {
	case "":
		return "Add the page's origin to CORS_ORIGINS if it may call this server."
	case "null": // of files, and of sandboxed frames
		return "The page has no origin, such as a page opened from a file. Serve it at an address, and add that to CORS_ORIGINS."
	}
	return fmt.Sprintf("Add %q to CORS_ORIGINS if that page may call this server.", excerpt.Head(origin, longestOrigin))
}

// longestOrigin is the maximum length of an origin quoted in an error message, in bytes.
const longestOrigin = 200

// Trusts reports whether the page that opens a WebSocket may do so: browsers let any page
// open one and read it. The server's own pages are recognized by the Host header, so Hosts
// must be checked first.
func (o *Origins) Trusts(r *http.Request) bool {
	origin := r.Header.Get(echo.HeaderOrigin)
	if origin == "" || slices.Contains(o.names, origin) || slices.Contains(o.names, "*") {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.User == nil && strings.EqualFold(u.Host, r.Host)
}

// forwardedFor are the headers in which a proxy names its client.
var forwardedFor = []string{echo.HeaderXForwardedFor, echo.HeaderXRealIP, "Forwarded", "CF-Connecting-IP", "True-Client-IP"}

// RefuseForwarded rejects requests that a proxy forwards for other machines, except on
// these routes. It is for a server without keys, which trusts every client on loopback.
func RefuseForwarded(routes ...string) Check {
	return func(c echo.Context) error {
		if slices.Contains(routes, c.Path()) || !forElsewhere(c) {
			return nil
		}
		return job.Errorf(job.Forbidden, "The request came through a proxy, and this server has no keys").
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

// Addresses returns a function that extracts the address of a client. It is that of the
// connection, unless the connection comes from one of these proxies (addresses or
// networks); then it is taken from X-Forwarded-For. From any other client, that header may
// be forged.
func Addresses(proxies []string) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trusted := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		if network := networkOf(proxy); network != nil {
			trusted = append(trusted, echo.TrustIPRange(network))
		}
	}
	return echo.ExtractIPFromXFFHeader(trusted...)
}

// networkOf parses a network, or an address as a network; nil if it is neither.
func networkOf(text string) *net.IPNet {
	for _, length := range []string{"", "/128", "/32"} { // in this order: "::1/32" is a network, too
		if _, network, err := net.ParseCIDR(text + length); err == nil {
			return network
		}
	}
	return nil
}
