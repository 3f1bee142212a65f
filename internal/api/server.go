package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"ringback/internal/apikey"
	"ringback/internal/checkpoint"
	"ringback/internal/contract"
	"ringback/internal/guard"
	"ringback/internal/httpjson"
	"ringback/internal/hub"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// Options say how the API behaves.
type Options struct {
	// Keys let back ends in, JWTSecret verifies the tokens of browsers. With neither
	// (nil, empty), everyone may do everything.
	Keys      *apikey.Set
	JWTSecret string
	// TokenMaxAge is how long a user's token may still count when it is used; 0 for any
	// time.
	TokenMaxAge time.Duration
	// SlackSecret verifies requests of Slack's; empty: none are taken.
	SlackSecret string
	// CORSOrigins are the origins whose pages may call us.
	CORSOrigins []string
	// CallbackBaseURL is what a person who plays Claude needs to know.
	CallbackBaseURL string
	// BodyLimit is the most bytes of a request body; default 1 MiB.
	BodyLimit int64
	// Ready says what keeps the server from working, and what does not but is not as
	// it should be; empty when nothing is.
	Ready func(context.Context) (problems, warnings []string)
	// Budgets are those of a day, of each user and of all jobs.
	Budgets job.Spending
	// RefusingFunc reports whether no new jobs are taken, since the server stops.
	RefusingFunc func() bool
	// Sandbox says what confines what runs for jobs.
	Sandbox string
	// Files finds the files that a job made.
	Files FilesFunc
	// WorkspaceDir is where the repositories of a job lie on this node; empty where they do
	// not.
	WorkspaceDir func(job.ID) string
	// DiffPage reads a part of what was captured of a job's change.
	DiffPage func(ctx context.Context, id job.ID, page DiffPage) ([]job.DiffOutput, error)
	// Limit turns calls away where there are too many; nil for none. Health is not
	// limited.
	Limit echo.MiddlewareFunc
	// Metrics serves GET /metrics.
	Metrics http.Handler
	// Version is what GET /healthz tells.
	Version string
	// Contracts makes what GET /openapi.json and GET /asyncapi.json tell.
	Contracts func() (Contracts, error)
}

// Server holds what the handlers share.
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
func New(s *store.Store, jobs *lifecycle.Service, h *hub.Hub, people *checkpoint.Service, opts Options, log *slog.Logger) *Server {
	if opts.BodyLimit == 0 {
		opts.BodyLimit = 1 << 20
	}
	if opts.Limit == nil {
		opts.Limit = func(next echo.HandlerFunc) echo.HandlerFunc { return next }
	}
	return &Server{store: s, jobs: jobs, hub: h, checkpoints: people, origins: guard.NewOrigins(opts.CORSOrigins), opts: opts, log: log}
}

// NewEcho returns an echo server that answers errors our way.
func NewEcho(log *slog.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = httpjson.ErrorHandler(log)
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			log.Error("handler panicked", "path", c.Request().URL.Path, "error", err, "stack", string(stack))
			return err
		},
	}))
	return e
}

// exposed are the headers of our answers that pages of other origins may read
// beside those that they always may.
var exposed = []string{
	"Retry-After", echo.HeaderWWWAuthenticate, echo.HeaderLocation, echo.HeaderAllow,
	echo.HeaderContentDisposition, "Content-Range", "ETag",
}

// preflightAge is for how many seconds a browser need not ask again whether a page
// may call: the most that Chromium heeds.
const preflightAge = 7200

// Register adds the routes.
func (s *Server) Register(e *echo.Echo) {
	if len(s.opts.CORSOrigins) > 0 {
		e.Use(middleware.CORSWithConfig(middleware.CORSConfig{AllowOrigins: s.opts.CORSOrigins, ExposeHeaders: exposed, MaxAge: preflightAge}))
	}
	e.Use(s.origins.Middleware)
	// Not a group: its middleware would answer 404 for a wrong method.
	for _, r := range slices.Concat(jobRoutes, peopleRoutes, serverRoutes) {
		e.Add(r.Method, r.Path, func(c echo.Context) error { return r.handle(s, c) }, s.before(r)...)
	}
}

// before is what a call of a route has to pass.
func (s *Server) before(r route) []echo.MiddlewareFunc {
	var all []echo.MiddlewareFunc
	if !r.unlimited {
		all = append(all, s.opts.Limit)
	}
	if r.Access == contract.Anyone || r.identifies {
		return all
	}
	all = append(all, s.authenticate)
	if r.Access == contract.BackEnd {
		all = append(all, forBackEnds(r.Act))
	}
	return all
}

// HealthPath is the route that says that the process lives.
const HealthPath = "/healthz"

// RegisterHealth adds that route.
func (s *Server) RegisterHealth(e *echo.Echo) { e.GET(HealthPath, s.health) }

func (s *Server) health(c echo.Context) error {
	return c.JSON(http.StatusOK, health{"ok", s.opts.Version})
}

// health answers GET /healthz.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

func (s *Server) metrics(c echo.Context) error {
	s.opts.Metrics.ServeHTTP(c.Response(), c.Request())
	return nil
}

// readiness answers GET /readyz.
type readiness struct {
	Status string `json:"status"`
	// Sandbox says what confines what runs for jobs.
	Sandbox string `json:"sandbox"`
	// Warnings are what is not as it should be.
	Warnings []string `json:"warnings,omitempty"`
	// Limits are those of Claude's that keep jobs waiting, of all nodes.
	Limits []job.Limit `json:"limits,omitempty"`
}

// readyTimeout is how long the store may take to answer until the server counts as not ready:
// load balancers give up soon.
const readyTimeout = 800 * time.Millisecond

func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	problems, warnings := s.opts.Ready(ctx)
	if len(problems) == 0 {
		limits, err := s.store.Limits(ctx)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, readiness{"ready", s.opts.Sandbox, warnings, limits})
	}
	e := job.Errorf(job.Unavailable, "Not ready")
	for _, problem := range problems {
		e.Details = append(e.Details, job.Detail{Message: problem})
	}
	return e
}
