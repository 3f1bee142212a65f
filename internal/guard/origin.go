package guard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/excerpt"
	"ringback/internal/job"
)

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
		return "The page has no origin of its own, as one that was opened as a file. Serve it at an address, and add that to CORS_ORIGINS."
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
