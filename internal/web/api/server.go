package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/web/apikey"
	"ringback/internal/web/contract"
	"ringback/internal/web/guard"
	"ringback/internal/web/httpjson"
	"ringback/internal/web/hub"
)

// Options configure the API.
type Options struct {
	// Keys authenticates back ends, JWTSecret verifies users' tokens. With neither (nil,
	// empty), everything is allowed without credentials.
	Keys      *apikey.Set
	JWTSecret string
	// TokenMaxAge is the maximum remaining lifetime of a user's token when it is used; 0
	// for no limit.
	TokenMaxAge time.Duration
	// SlackSecret verifies requests from Slack; if empty, they are rejected.
	SlackSecret string
	// InboundSecrets verify signed requests for jobs; if empty, they are rejected.
	InboundSecrets notify.Secrets
	Pages          job.Pages
	// CORSOrigins are the origins of pages that may call the API.
	CORSOrigins []string
	// CallbackBaseURL is the base URL of callbacks, for a person who plays Claude.
	CallbackBaseURL string
	// Ready returns whether the server can work.
	Ready func(context.Context) job.Readiness
	// Budgets are the daily budgets of each user and of all jobs.
	Budgets job.Spending
	// RefusingFunc reports whether new jobs are rejected because the server is stopping.
	RefusingFunc func() bool
	// RoomFunc returns why the store has too little room for new jobs; nil for a store that always has.
	RoomFunc func() error
	Files    FilesFunc
	// WorkspaceDir returns the directory of a job's repositories on this node; empty if
	// they are not here.
	WorkspaceDir func(job.ID) string
	DiffPage     func(ctx context.Context, id job.ID, page job.DiffPage) ([]job.DiffOutput, error)
	// Limit is the rate-limiting middleware; nil for none. Health is exempt.
	Limit   echo.MiddlewareFunc
	Version string
	// ReloadKinds loads the files of the kinds again: all of them, or none.
	ReloadKinds func() (job.KindsReload, error)
	Contracts   func() (Contracts, error)
}

// Server contains the dependencies of the handlers.
type Server struct {
	store       *store.Store
	jobs        *lifecycle.Service
	hub         *hub.Hub
	checkpoints *checkpoint.Service
	origins     *guard.Origins
	opts        Options
	log         *slog.Logger
}

// New returns the API.
func New(
	s *store.Store, jobs *lifecycle.Service, h *hub.Hub, people *checkpoint.Service, opts Options, log *slog.Logger,
) *Server {
	if opts.Limit == nil {
		opts.Limit = func(next echo.HandlerFunc) echo.HandlerFunc { return next }
	}
	return &Server{
		store: s, jobs: jobs, hub: h, checkpoints: people, origins: guard.NewOrigins(opts.CORSOrigins), opts: opts, log: log,
	}
}

// NewEcho returns an echo server that writes errors in our format.
func NewEcho(log *slog.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = httpjson.ErrorHandler(log)
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			r := c.Request()
			log.ErrorContext(r.Context(), "handler panicked", "path", r.URL.Path, "error", err, "stack", string(stack))
			return err
		},
	}))
	return e
}

// exposed are the response headers that pages of other origins may read in addition to
// those that are always readable.
var exposed = []string{
	"Retry-After", echo.HeaderWWWAuthenticate, echo.HeaderLocation, echo.HeaderAllow,
	echo.HeaderContentDisposition, "Content-Range", "ETag", echo.HeaderXRequestID,
}

// preflightAge is the time for which a browser may cache a CORS preflight, in seconds: the
// maximum that Chromium accepts.
const preflightAge = 7200

// Register adds the routes. Each request must pass the checks in first.
func (s *Server) Register(e *echo.Echo, first ...guard.Check) {
	e.Use(guard.Checks(append(first, s.origins.Check)...))
	if len(s.opts.CORSOrigins) > 0 {
		e.Use(middleware.CORSWithConfig(middleware.CORSConfig{
			AllowOrigins: s.opts.CORSOrigins, ExposeHeaders: exposed, MaxAge: preflightAge,
		}))
	}
	// Not a group: its middleware would answer 404 for a wrong method.
	for _, r := range routes() {
		e.Add(r.Method, r.Path, func(c echo.Context) error { return r.handle(s, c) }, s.before(r)...)
	}
}

func (s *Server) before(r route) []echo.MiddlewareFunc {
	var all []echo.MiddlewareFunc
	if r.Path != HealthPath {
		all = append(all, s.opts.Limit)
	}
	if r.Access == contract.Anyone || r.Access == contract.Slack || r.Path == webSocketPath { // their handlers identify the caller
		return all
	}
	return append(all, s.authenticate(r.Route))
}

// The paths of the liveness and the readiness endpoints.
const (
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

// RegisterHealth adds only that route.
func (s *Server) RegisterHealth(e *echo.Echo) { e.GET(HealthPath, s.health) }

func (s *Server) health(c echo.Context) error {
	guard.Received(c.Request())
	return c.JSON(http.StatusOK, health{"ok", s.opts.Version})
}

// health answers GET /healthz.
type health struct {
	Status  string `json:"status"`  // Always "ok".
	Version string `json:"version"` // The version of the server.
}

// probed answers with the status alone: anyone may ask.
func (s *Server) probed(c echo.Context) error {
	return c.NoContent(s.opts.Ready(c.Request().Context()).HTTPStatus())
}

func (s *Server) readiness(c echo.Context) error {
	return c.JSON(http.StatusOK, s.opts.Ready(c.Request().Context()))
}
