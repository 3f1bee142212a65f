package console

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"ringback/client"
	"ringback/internal/job"
)

// Options configures the console.
type Options struct {
	API http.Handler
	// Open is true if no sign-in is needed.
	Open bool
	// IdentifyFunc returns the identity for a key or token, or the reason why it is not valid.
	IdentifyFunc func(credential string) (job.Identity, error)
	// Cookie is the name of the cookie in which the pages and the WebSocket find the credential.
	// enter sets it on the request; browsers never store a cookie with that name.
	Cookie  string
	SignIns SignIns
	// MarkFunc marks the context of requests that the console makes.
	MarkFunc func(context.Context) context.Context
}

// Console serves the pages.
type Console struct {
	opts Options
	// pages returns the pages by name, and pagesAsText the same pages with every text unrendered.
	// They are parsed at the first request, because that takes a seventh of the server's start.
	pages, pagesAsText func() map[string]*template.Template
	static             static
	routes             map[string]bool
	writes             *http.CrossOriginProtection
	log                *slog.Logger
}

// New returns the console.
func New(opts Options, log *slog.Logger) *Console {
	files := loadStatic()
	return &Console{
		opts: opts, static: files, pages: pagesOf(files, markdown), pagesAsText: pagesOf(files, asText),
		routes: map[string]bool{}, writes: http.NewCrossOriginProtection(), log: log,
	}
}

// Register adds the routes of the pages.
func (c *Console) Register(e *echo.Echo) {
	if !c.opts.Open {
		e.Pre(c.enter)
	}
	compress := middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024})
	e.GET("/static/:version/:name", c.static.serve, compress)
	e.GET("/client.js", serveClient, compress)
	e.GET("/clients/:file", servePackage)
	e.GET("/sign-in", c.page(c.signInPage), compress)
	e.POST("/sign-in", c.page(posted(c.signIn)))
	e.POST("/sign-out", c.page(c.signOut))
	for path, show := range map[string]handler{
		"/": c.overview, "/jobs": c.jobs, "/jobs/new": c.kinds, "/jobs/new/:kind": c.newJob,
		"/jobs/:id": c.job, "/jobs/bulk": c.bulk, "/jobs/:id/review": c.review, "/jobs/:id/timeline": jobTab("timeline", timeline),
		"/jobs/:id/files": jobTab("files", files), "/jobs/:id/transcript": jobTab("transcript", printed),
		"/jobs/:id/audit": jobTab("audit", audit),
		"/inbox":          c.inbox, "/inbox/:id": c.checkpoint, "/approvals": c.approvals, "/docs": c.docs, "/leave": c.leave,
	} {
		c.routes[path] = true
		e.GET(path, c.page(c.signedIn(show)), compress)
	}
	e.GET("/jobs/:id/files/*", c.page(c.signedIn(c.file)))
	for path, do := range map[string]formHandler{
		"/jobs/new/:kind": c.startJob, "/jobs/bulk": c.doBulk, "/jobs/:id/cancel": changing((*client.Client).Cancel),
		"/jobs/:id/retry": changing((*client.Client).Retry), "/jobs/:id/move": changing((*client.Client).Move),
		"/jobs/:id/steer": c.steer, "/jobs/:id/viewed": c.setViewed, "/jobs/:id/say": c.say, "/inbox/:id": c.reply,
		"/approvals/:id/revoke": c.revoke,
	} {
		c.routes[path] = true
		e.POST(path, c.page(c.signedIn(posted(do))))
	}
	for _, path := range []string{"/sign-in", "/sign-out", "/jobs/:id/files/*"} {
		c.routes[path] = true
	}
}

type handler func(*visit) error

type formHandler func(*visit, url.Values) error

func posted(do formHandler) handler {
	return func(v *visit) error {
		sent, err := v.sent()
		if err != nil {
			return err
		}
		return do(v, sent)
	}
}

// visit is one request for a page, with its visitor.
type visit struct {
	echo.Context
	console *Console
	// Who is the visitor; the zero value may see all.
	Who job.Identity
	// token is the key or token; empty in open mode.
	token string
}

// page also answers the errors of a handler with a page.
func (c *Console) page(handle handler) echo.HandlerFunc {
	return func(ec echo.Context) error {
		v := &visit{Context: ec, console: c}
		c.protect(ec.Response().Header())
		err := v.ofAnotherSite(nil)
		if err == nil {
			err = handle(v)
		}
		if err != nil {
			return v.fail(err)
		}
		return nil
	}
}

// protect sets the headers that stop text written by others from executing, and other sites from
// embedding our pages.
func (c *Console) protect(header http.Header) {
	header.Set(echo.HeaderContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	header.Set(echo.HeaderReferrerPolicy, "same-origin")
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// see redirects to another page, by GET.
func (v *visit) see(path string) error {
	return v.Redirect(http.StatusSeeOther, base(v.Request())+path)
}

// here makes links from one page to another: render and see complete them.
const here job.Pages = ""

// api returns a client that calls the API for the visitor: with the visitor's credential and
// address.
func (v *visit) api() *client.Client {
	return client.New("", client.WithToken(v.token), client.WithHTTPClient(&http.Client{Transport: inProcess{v}}))
}

type inProcess struct{ visit *visit }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	t.visit.forward(answer, r)
	return answer.Result(), nil
}

// forward passes a request of the visit to the API, which writes its response to w.
func (v *visit) forward(w http.ResponseWriter, r *http.Request) {
	outer := v.Request()
	inner := r.Clone(v.console.opts.MarkFunc(r.Context()))
	inner.RequestURI, inner.Host, inner.RemoteAddr = r.URL.RequestURI(), outer.Host, outer.RemoteAddr
	for _, name := range []string{echo.HeaderXForwardedFor, echo.HeaderXRealIP} {
		if values := outer.Header.Values(name); len(values) > 0 {
			inner.Header[name] = values
		}
	}
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	v.console.opts.API.ServeHTTP(w, inner)
}
