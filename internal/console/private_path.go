package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/lazy"
)

// Cookies know no ports: a browser sends those of a host to whatever listens on it, such as a
// page of a job, and takes others of the same name from there. They know paths. So each
// sign-in has a private path, /~ and an id that nobody can guess, before the paths of all
// pages. Its cookie goes there only, under a name that is made of the id. Whoever does not know
// the path neither gets the cookie nor can replace it; whoever has only one of the two has
// nothing. The browser tells nobody the path (Referrer-Policy), and outside of it no cookie counts.

// privatePath matches a path below a private one.
var privatePath = lazy.Regexp(`^(/~([A-Z2-7]{26}))(/.*)$`)

// pathCookie is the name of the cookie of a private path. Browsers take one with __Secure- from
// pages over TLS only.
func pathCookie(pathID string, secure bool) string {
	sum := sha256.Sum256([]byte("ringback private path " + pathID))
	name := "ringback_" + hex.EncodeToString(sum[:8])
	if secure {
		return "__Secure-" + name
	}
	return name
}

// overTLS reports whether the page of a request comes over TLS.
func overTLS(ec echo.Context) bool { return ec.Scheme() == "https" }

// prefixKey is where the private path of a request is kept in its context.
type prefixKey struct{}

// prefix is what all paths of a visit begin with: its private path, or nothing.
func prefix(r *http.Request) string {
	prefix, _ := r.Context().Value(prefixKey{}).(string)
	return prefix
}

// enter takes the private path out of a request's, and puts the key or token of the sign-in into
// the cookie that the pages and the WebSocket look for. What a page of another site or port
// leads to below a private path is asked for again outside: it cannot know that of whoever
// follows the link, so it is one that was made for them.
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
			return ec.Redirect(http.StatusSeeOther, localPath(r.URL.RequestURI()))
		}
		cookie, err := r.Cookie(pathCookie(found[2], overTLS(ec)))
		if err != nil || isForAnybody(r.URL.Path) {
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

// isLedByAnotherPage reports whether a browser follows a link or redirect of another site or port.
func isLedByAnotherPage(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && from != "" && from != "same-origin" && from != "none"
}

// isForAnybody reports whether a path is the same for all, so that no store is asked for it:
// pages that say that the store is away look as others do.
func isForAnybody(path string) bool {
	return path == "/client.js" || strings.HasPrefix(path, "/clients/") || strings.HasPrefix(path, "/static/")
}

// within is a request without its private path. The URL stays the same one: the router
// reads it from the request that came.
func within(r *http.Request, prefix string) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), prefixKey{}, prefix))
	r.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
	r.RequestURI = r.URL.RequestURI()
	return r
}

// setCookie replaces what a browser sent under a name; an empty value removes it.
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

// withPrefix makes the paths of a page lead to where the visitor is. All attributes with paths are
// of our templates: what others wrote holds no quotation mark that is not escaped.
func withPrefix(page, prefix string) string {
	if prefix == "" {
		return page
	}
	return strings.NewReplacer(` href="/`, ` href="`+prefix+`/`, ` action="/`, ` action="`+prefix+`/`, ` src="/`, ` src="`+prefix+`/`).Replace(page)
}

// signInPath is the page of the sign-in, from which one comes back to another. ended tells the
// browser that its private path is no more.
func signInPath(next string, ended bool) string {
	path := "/sign-in?next=" + url.QueryEscape(next)
	if ended {
		path += "&ended=1"
	}
	return path
}
