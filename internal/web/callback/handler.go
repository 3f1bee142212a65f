package callback

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/rules/schema"
	"ringback/internal/store"
	"ringback/internal/turn/action"
	"ringback/internal/web/httpjson"
)

// Options configure the callbacks.
type Options struct {
	// Strict requires a signature on progress reports too.
	Strict bool
	// BodyLimit is the most bytes of a body; default 1 MiB.
	BodyLimit int64
	// Rate is the maximum number of callbacks per second of one request, and of unsigned ones of
	// one address, with bursts of as many; default 1000.
	Rate float64
	// Hold limits how long a call waits for a person; it waits somewhat longer for an action.
	Hold time.Duration
	// WorkDir returns the working directory of a job's processes; empty if it is not on
	// this node. If WorkDir is nil, files are judged only by their names.
	WorkDir func(node string, id job.ID) string
	// Masked reports whether a job's turn runs in a sandbox, without access to what deny rules
	// forbid. Nil means that none does.
	Masked func(node string, id job.ID) bool
	// Home is the home directory of the CLI; empty if unknown.
	Home string
	// Observe, if set, is called with the outcome and duration of each callback.
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
	// schemas are the payload schemas that are the same for every kind, by their source.
	schemas map[string]*schema.Schema
	// tools are the callbacks as tools of an MCP server, by the version of each kind that calls
	// back over MCP.
	tools *lru.Cache[string, []tool]
	// cache holds the immutable data of a request, and its limiters.
	cache *lru.Cache[job.ID, *request]
	// strangers limit the callers without a valid signature, by their address. Such a caller
	// slows down only its own address, and no job.
	strangers *lru.Cache[string, *rate.Limiter]
}

// request is the data about a job that its callbacks need.
type request struct {
	header store.JobHeader
	// limiter limits the rate of its signed callbacks, and refreshes how often it is read again
	// because of a wrong signature.
	limiter, refreshes *rate.Limiter
	// recording is held while an answer is sent and what it delivers is recorded: the next call, which Claude may
	// make as soon as it has the answer, waits for that.
	recording *sync.RWMutex
}

// New returns the handler of all callbacks.
func New(
	s *store.Store, jobs *lifecycle.Service, checkpoints *checkpoint.Service, actions *action.Service, opts Options,
	log *slog.Logger,
) (*Handler, error) {
	opts.BodyLimit, opts.Rate = cmp.Or(opts.BodyLimit, 1<<20), cmp.Or(opts.Rate, 1000)
	if opts.Observe == nil {
		opts.Observe = func(string, int, time.Duration) {}
	}
	h := &Handler{
		store: s, jobs: jobs, checkpoints: checkpoints, actions: actions, opts: opts, log: log, schemas: map[string]*schema.Schema{},
		tools: newCache[string, []tool](1 << 8), cache: newCache[job.ID, *request](1 << 16),
		strangers: newCache[string, *rate.Limiter](1 << 12),
	}
	for _, source := range []string{progressSchema, failureSchema, batchSchema, checkpointSchema, actionSchema} {
		var err error
		if h.schemas[source], err = schema.New("payload", []byte(source)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, err := lru.New[K, V](size)
	if err != nil {
		panic("callback: " + err.Error()) // only for a size below 1
	}
	return cache
}

func (h *Handler) serve(ep endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		in, err := h.open(c, ep)
		var answer json.RawMessage
		if err == nil {
			answer, err = h.answer(in, ep)
		}
		failure := err
		if err != nil {
			httpjson.LogsItself(c)
			c.Error(err)
		} else {
			err = in.send(c, answer)
		}
		h.report(c.Request().Context(), ended{ep.Path, c.Response().Status, failure, time.Since(begin)}, in)
		return err
	}
}

type ended struct {
	endpoint string
	status   int
	failure  error
	took     time.Duration
}

// report logs a callback for debugging, whether accepted or refused; the store's own
// errors are warnings. The log contains neither the payload nor the signature: of a
// refused payload, it contains only the paths that were wrong.
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

// deliveries record that Claude has received what an answer contains: a person's reply, the result of an
// action, messages. What is not recorded is delivered again with another answer.
type deliveries struct {
	mu      sync.Mutex
	records []func(context.Context) error
}

// whenSent adds what is recorded once the answer has left the server.
func (in *call) whenSent(record func(context.Context) error) {
	in.deliveries.mu.Lock()
	defer in.deliveries.mu.Unlock()
	in.deliveries.records = append(in.deliveries.records, record)
}

const recordTimeout = 10 * time.Second

// send writes an answer, and records its deliveries once its last byte has left the server: before that,
// a server that is killed takes it along. Nothing is recorded if the client was gone before. That it hangs
// up afterwards says nothing: curl does so as soon as it has the answer.
func (in *call) send(c echo.Context, answer json.RawMessage) error {
	in.deliveries.mu.Lock()
	defer in.deliveries.mu.Unlock()
	if len(in.deliveries.records) == 0 {
		return httpjson.WriteText(c, http.StatusOK, answer)
	}
	in.recording.Lock()
	defer in.recording.Unlock()
	wasGone := in.ctx.Err() != nil
	if err := httpjson.WriteThrough(c, http.StatusOK, answer); err != nil || wasGone {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), recordTimeout)
	defer cancel()
	for _, record := range in.deliveries.records {
		_ = record(ctx)
	}
	return nil
}
