package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/text/lazy"
)

// Cookies ignore ports: a browser sends a host's cookies to whatever listens on that host, such as
// a page served by a job, and accepts cookies of the same name from there. But they respect paths.
// So each sign-in has a private path, /~ and an unguessable ID, before the paths of all pages. Its
// cookie is sent only there, under a name derived from the ID. Someone without the path can neither
// get the cookie nor replace it; path or cookie alone is worthless. The browser does not reveal the
// path (Referrer-Policy), and outside the path no cookie is accepted.

var privatePath = lazy.Regexp(`^(/~([A-Z2-7]{26}))(/.*)$`)

// pathCookie returns the name of the cookie of a private path. Browsers accept a cookie with the
// prefix __Secure- only over TLS.
func pathCookie(pathID string, secure bool) string {
	sum := sha256.Sum256([]byte("ringback private path " + pathID))
	name := "ringback_" + hex.EncodeToString(sum[:8])
	if secure {
		return "__Secure-" + name
	}
	return name
}

func overTLS(ec echo.Context) bool { return ec.Scheme() == "https" }

type prefixKey struct{}

// prefix returns the private path of a request, with which all its paths begin; empty if it has
// none.
func prefix(r *http.Request) string {
	prefix, _ := r.Context().Value(prefixKey{}).(string)
	return prefix
}

// mounted matches the path below which a proxy serves the console: letters, digits and a few signs, so
// that it leads to no other server and ends no attribute.
var mounted = lazy.Regexp(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// mount returns the path below which a proxy serves the console, and which it removes from the paths
// that it passes on; empty if there is none.
func mount(r *http.Request) string {
	if path := strings.TrimRight(r.Header.Get("X-Forwarded-Prefix"), "/"); mounted().MatchString(path) {
		return path
	}
	return ""
}

// base returns what all paths of a page begin with in the browser.
func base(r *http.Request) string { return mount(r) + prefix(r) }

// enter removes the private path from a request's URL, and puts the sign-in's key or token into the
// cookie that the pages and the WebSocket read. If another site or port links to a URL below a
// private path, enter redirects it to outside the path: that page cannot know the visitor's private
// path, so the link contains one made for the visitor.
func (c *Console) enter(next echo.HandlerFunc) echo.HandlerFunc {
	return func(ec echo.Context) error {
		r := ec.Request()
		found := privatePath().FindStringSubmatch(r.URL.Path)
		setCookie(r, c.opts.Cookie, "")
		if found == nil {
			return next(ec)
		}
		r = within(r, found[1])
		ec.SetRequest(r)
		if isLedByAnotherPage(r) {
			return ec.Redirect(http.StatusSeeOther, mount(r)+localPath(r.URL.RequestURI()))
		}
		cookie, err := r.Cookie(pathCookie(found[2], overTLS(ec)))
		// What is the same for all visitors needs no store: error pages look the same while it is unavailable.
		public := []string{"/client.js", "/clients/", "/static/"}
		if err != nil || slices.ContainsFunc(public, func(begin string) bool { return strings.HasPrefix(r.URL.Path, begin) }) {
			return next(ec)
		}
		credential, err := c.credential(r.Context(), signIn{cookie.Value, found[2]})
		if err != nil {
			return err
		}
		setCookie(r, c.opts.Cookie, credential)
		return next(ec)
	}
}

// isLedByAnotherPage reports whether a browser follows a link or redirect from another site or
// port.
func isLedByAnotherPage(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && from != "" &&
		from != "same-origin" && from != "none"
}

// within returns a request without its private path. It modifies the URL in place: the router reads
// it from the original request.
func within(r *http.Request, prefix string) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), prefixKey{}, prefix))
	r.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
	r.RequestURI = r.URL.RequestURI()
	return r
}

// setCookie replaces the value that a browser sent for a cookie; an empty value removes the cookie.
func setCookie(r *http.Request, name, value string) {
	all := r.Cookies()
	r.Header.Del("Cookie")
	for _, cookie := range all {
		if cookie.Name != name {
			r.AddCookie(cookie)
		}
	}
	if value != "" {
		r.AddCookie(&http.Cookie{Name: name, Value: value}) //nolint:gosec // it is read, not sent to a browser
	}
}

// withPrefix adds a prefix to the paths in a page. All attributes with paths come from our
// templates: text from elsewhere contains no unescaped quotation mark.
func withPrefix(page, prefix string) string {
	if prefix == "" {
		return page
	}
	return strings.NewReplacer(
		` href="/`, ` href="`+prefix+`/`, ` action="/`, ` action="`+prefix+`/`, ` src="/`, ` src="`+prefix+`/`,
	).Replace(page)
}

// signInPath returns the path of the sign-in page that returns to next. ended tells the browser
// that its private path is no longer valid.
func signInPath(next string, ended bool) string {
	path := "/sign-in?next=" + url.QueryEscape(next)
	if ended {
		path += "&ended=1"
	}
	return path
}
