package callback

import (
	"context"
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
	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
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
	// WorkDir is where the processes of a job work; empty where that is not on this
	// node. Nil: files are judged by their names alone.
	WorkDir func(job.ID) string
	// Masked reports whether a job's turn runs without what deny rules forbid. Nil: none does.
	Masked func(job.ID) bool
	// Home is the home directory that the CLI has; empty where it is not known.
	Home string
	// Observe is told how each callback ended and how long it took; may be nil.
	Observe func(endpoint string, status int, took time.Duration)
}

// Handler serves the callbacks.
type Handler struct {
	store       *store.Store
	jobs        *lifecycle.Service
	checkpoints *checkpoint.Service
	actions     *action.Service
	opts        Options
	log         *slog.Logger
	schemas     schemas
	// tools are the callbacks as tools of an MCP server, by the version of each kind that calls
	// back so.
	tools *lru.Cache[string, []tool]
	// cache holds what never changes about a request, and its limiter.
	cache *lru.Cache[job.ID, *request]
	// unknownLimiters limit the addresses from which requests are named that are not in
	// the cache: each such call costs a read of the store, and who makes many up slows
	// nobody at another address down.
	unknownLimiters *lru.Cache[string, *rate.Limiter]
}

// request is one job as its callbacks see it.
type request struct {
	header store.JobHeader
	// limiter bounds how fast its callbacks may come.
	limiter *rate.Limiter
}

// New returns the handler of all callbacks.
func New(s *store.Store, jobs *lifecycle.Service, checkpoints *checkpoint.Service, actions *action.Service, opts Options, log *slog.Logger) (*Handler, error) {
	if opts.BodyLimit == 0 {
		opts.BodyLimit = 1 << 20
	}
	if opts.Rate == 0 {
		opts.Rate = 1000
	}
	if opts.Observe == nil {
		opts.Observe = func(string, int, time.Duration) {}
	}
	cache, err := lru.New[job.ID, *request](1 << 16)
	if err != nil {
		return nil, err
	}
	unknown, err := lru.New[string, *rate.Limiter](1 << 12)
	if err != nil {
		return nil, err
	}
	compiled, err := compileSchemas()
	if err != nil {
		return nil, err
	}
	tools, err := lru.New[string, []tool](1 << 8)
	if err != nil {
		return nil, err
	}
	return &Handler{
		tools: tools, store: s, jobs: jobs, checkpoints: checkpoints, actions: actions, opts: opts, log: log, schemas: compiled, cache: cache,
		unknownLimiters: unknown,
	}, nil
}

func (h *Handler) serve(ep endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		in, err := h.open(c, ep)
		var answer any
		if err == nil {
			answer, err = h.answer(in, ep)
		}
		failure := err
		if err != nil {
			httpjson.Told(c)
			c.Error(err)
		} else {
			err = httpjson.Write(c, http.StatusOK, answer)
		}
		if r, ok := answer.(response); ok && err == nil {
			r.afterWrite()
		}
		h.report(c.Request().Context(), ended{ep.Path, c.Response().Status, failure, time.Since(begin)}, in)
		return err
	}
}

// ended is how a callback ended.
type ended struct {
	endpoint string
	status   int
	failure  error
	took     time.Duration
}

// report logs a callback for debugging, taken or refused; the store's own faults
// are warnings. Neither the payload nor the signature is in it: of a refused
// payload, only the places that were wrong.
func (h *Handler) report(ctx context.Context, o ended, in *call) {
	h.opts.Observe(o.endpoint, o.status, o.took)
	level := slog.LevelInfo
	if o.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	if !h.log.Enabled(ctx, level) {
		return
	}
	fields := []any{"endpoint", o.endpoint, "status", o.status, "took", o.took}
	if in != nil {
		fields = append(fields, "requestId", in.id, "kind", in.header.Kind)
		if in.name != "" {
			fields = append(fields, "action", in.name)
		}
	}
	if e, ok := errors.AsType[*job.Error](o.failure); ok {
		fields = append(fields, "refused", e.Message)
		if len(e.Details) > 0 {
			fields = append(fields, "wrong", pathsOf(e.Details))
		}
	}
	h.log.Log(ctx, level, "callback", fields...)
}

func pathsOf(details []job.Detail) string {
	paths := make([]string, len(details))
	for i, d := range details {
		paths[i] = d.Path
	}
	return strings.Join(paths, " ")
}
