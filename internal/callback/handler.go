package callback

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"ringback/internal/action"
	"ringback/internal/checkpoint"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/store"
)

// Options say how callbacks are taken.
type Options struct {
	// Strict demands a signature on progress reports too.
	Strict bool
	// BodyLimit is the most bytes of a body; default 1 MiB.
	BodyLimit int64
	// Rate is how many callbacks per second one request may make, with bursts of
	// as many; default 1000.
	Rate float64
	// Hold is how long a call waits for a person, and somewhat longer for an action.
	Hold time.Duration
	// Observe is told how each callback ended and how long it took; may be nil.
	Observe func(endpoint string, status int, took time.Duration)
}

// Handler serves the callbacks.
type Handler struct {
	store       *store.Store
	kinds       *kind.Registry
	checkpoints *checkpoint.Service
	actions     *action.Service
	opts        Options
	log         *slog.Logger
	schemas     schemas
	// known caches what never changes about a request.
	known *lru.Cache[job.ID, *request]
	// strangers limits callers that name no request of ours.
	strangers *rate.Limiter
}

// request is one job as its callbacks see it.
type request struct {
	facts store.Facts
	pace  *rate.Limiter
}

// New returns the handler of all callbacks.
func New(s *store.Store, kinds *kind.Registry, people *checkpoint.Service, actions *action.Service, opts Options, log *slog.Logger) (*Handler, error) {
	if opts.BodyLimit == 0 {
		opts.BodyLimit = 1 << 20
	}
	if opts.Rate == 0 {
		opts.Rate = 1000
	}
	if opts.Observe == nil {
		opts.Observe = func(string, int, time.Duration) {}
	}
	known, err := lru.New[job.ID, *request](1 << 16)
	if err != nil {
		return nil, err
	}
	compiled, err := compileSchemas()
	if err != nil {
		return nil, err
	}
	return &Handler{
		store: s, kinds: kinds, checkpoints: people, actions: actions, opts: opts, log: log, schemas: compiled, known: known,
		strangers: rate.NewLimiter(rate.Limit(opts.Rate), int(opts.Rate)),
	}, nil
}

// Register adds the callback routes, with the short paths as aliases.
func (h *Handler) Register(e *echo.Echo) {
	post := func(handle func(*call) (any, error), unknown string, optional bool, paths ...string) {
		for _, path := range paths {
			e.POST(path, h.serve(path, handle, unknown, optional))
		}
	}
	const unknown = unknownOrExpired
	post(h.progress, "Unknown request", !h.opts.Strict, "/api/claude/progress", "/progress")
	post(h.suggestions, unknown, false, "/api/claude/suggestions", "/suggestions")
	post(h.result, unknown, false, "/api/claude/result")
	post(h.batch, unknown, false, "/api/claude/suggestions/batch")
	post(h.failure, unknown, false, "/api/claude/failure")
	post(h.checkpoint, unknown, false, "/api/claude/checkpoints")
	post(h.toolCalls, unknown, false, "/api/claude/tool-calls")
	post(h.action, unknown, false, "/api/claude/actions/:name")
}

func (h *Handler) serve(endpoint string, handle func(*call) (any, error), unknown string, optional bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		in, err := h.open(c, unknown, optional)
		var answer any
		if err == nil {
			answer, err = handle(in)
		}
		failure := err
		if err != nil {
			c.Error(err)
		} else {
			err = c.JSON(http.StatusOK, answer)
		}
		if d, ok := answer.(delivered); ok && err == nil {
			d.heard()
		}
		h.report(c, endpoint, in, failure, time.Since(begin))
		return err
	}
}

// report logs a callback for debugging, taken or refused; the store's own faults
// are warnings. Neither the payload nor the signature is in it: of a refused
// payload, only the places that were wrong.
func (h *Handler) report(c echo.Context, endpoint string, in *call, failure error, took time.Duration) {
	status := c.Response().Status
	h.opts.Observe(endpoint, status, took)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	if !h.log.Enabled(c.Request().Context(), level) {
		return
	}
	about := []any{"endpoint", endpoint, "status", status, "took", took}
	if in != nil {
		about = append(about, "requestId", in.id, "kind", in.facts.Kind)
		if in.name != "" {
			about = append(about, "action", in.name)
		}
	}
	if e, ok := errors.AsType[*job.Error](failure); ok {
		about = append(about, "refused", e.Message)
		if len(e.Details) > 0 {
			about = append(about, "wrong", pathsOf(e.Details))
		}
	}
	h.log.Log(c.Request().Context(), level, "callback", about...)
}

func pathsOf(details []job.Detail) string {
	paths := make([]string, len(details))
	for i, d := range details {
		paths[i] = d.Path
	}
	return strings.Join(paths, " ")
}
