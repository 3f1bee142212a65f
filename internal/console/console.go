package console

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"ringback/internal/job"
)

// Options say what the console stands on.
type Options struct {
	// API serves what the pages call.
	API http.Handler
	// Open reports whether nobody has to sign in.
	Open bool
	// IdentifyFunc returns who a key or token lets in, or what is wrong with it.
	IdentifyFunc func(credential string) (Identity, error)
	// Cookie is the name of the cookie in which the pages and the WebSocket find it, once enter
	// has put it there; browsers hold none of that name.
	Cookie string
	// SignIns keeps who is signed in.
	SignIns SignIns
	// Mark marks the context of requests that the console makes.
	Mark func(*http.Request) *http.Request
}

// Identity is who is signed in.
type Identity struct {
	// UserID is the person; empty for whoever may see all.
	UserID string
	// Key is the name of a back end's key.
	Key string
	// Until is when the credential ends; zero for never.
	Until time.Time
}

// Console serves the pages.
type Console struct {
	opts  Options
	pages map[string]*template.Template
	// pagesAsText are the same pages with every text as it was written.
	pagesAsText func() map[string]*template.Template
	static      static
	// routes are those of the pages.
	routes map[string]bool
	writes *http.CrossOriginProtection
	log    *slog.Logger
}

// New returns the console.
func New(opts Options, log *slog.Logger) *Console {
	files := loadStatic()
	return &Console{opts: opts, static: files, pages: parsePages(files, markdown), pagesAsText: sync.OnceValue(func() map[string]*template.Template { return parsePages(files, asText) }), routes: map[string]bool{}, writes: http.NewCrossOriginProtection(), log: log}
}

// Register adds the pages.
func (c *Console) Register(e *echo.Echo) {
	if !c.opts.Open {
		e.Pre(c.enter)
	}
	compress := middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024})
	e.GET("/static/:name", c.static.serve, compress)
	e.GET("/client.js", serveClient, compress)
	e.GET("/clients/:file", servePackage)
	e.GET("/sign-in", c.page(c.signInPage), compress)
	e.POST("/sign-in", c.page(c.signIn))
	e.POST("/sign-out", c.page(c.signOut))
	for path, show := range map[string]handler{
		"/": c.overview, "/jobs": c.jobs, "/jobs/new": c.kinds, "/jobs/new/:kind": c.newJob,
		"/jobs/:id": c.job, "/jobs/bulk": c.bulk, "/jobs/:id/timeline": c.timeline, "/jobs/:id/review": c.review,
		"/jobs/:id/files": c.files, "/jobs/:id/transcript": c.transcript, "/jobs/:id/audit": c.audit,
		"/inbox": c.inbox, "/inbox/:id": c.checkpoint, "/approvals": c.approvals, "/docs": c.docs, "/leave": c.leave,
	} {
		c.routes[path] = true
		e.GET(path, c.page(c.signedIn(show)), compress)
	}
	e.GET("/jobs/:id/files/*", c.page(c.signedIn(c.file)))
	for path, do := range map[string]handler{
		"/jobs/new/:kind": c.startJob, "/jobs/bulk": c.doBulk, "/jobs/:id/cancel": c.cancel, "/jobs/:id/retry": c.retry, "/jobs/:id/steer": c.steer, "/jobs/:id/viewed": c.setViewed,
		"/jobs/:id/say": c.say, "/inbox/:id": c.reply, "/approvals/:id/revoke": c.revoke,
	} {
		c.routes[path] = true
		e.POST(path, c.page(c.signedIn(do)))
	}
	for _, path := range []string{"/sign-in", "/sign-out", "/jobs/:id/files/*"} {
		c.routes[path] = true
	}
}

// handler answers one request for a page.
type handler func(*visit) error

// visit is one request for a page, and who makes it.
type visit struct {
	echo.Context
	console *Console
	// Who is signed in; the zero value may see all.
	Who Identity
	// token is the key or token, empty in open mode.
	token string
}

// page answers a handler's errors with a page, too.
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

// protect sets the headers that keep what others wrote from doing anything, and our pages
// out of those of others.
func (c *Console) protect(header http.Header) {
	header.Set(echo.HeaderContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	header.Set(echo.HeaderReferrerPolicy, "same-origin")
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// see goes on to another page, by GET.
func (v *visit) see(path string) error {
	return v.Redirect(http.StatusSeeOther, prefix(v.Request())+path)
}

// jobPath is the path of a job's page, or of one below it.
func jobPath(id job.ID, below string) string { return "/jobs/" + url.PathEscape(string(id)) + below }
