package guard

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/labstack/echo/v4"
)

// requestIDHeader carries the id of a request, in the request if the caller has chosen one, and in each answer.
const requestIDHeader = echo.HeaderXRequestID

// maxRequestID is the maximum length of an id that a caller has chosen.
const maxRequestID = 128

// identified is the context of a request with an id. It also holds the header's value: a request allocates once.
type identified struct {
	context.Context //nolint:containedctx // it is a context
	id              [1]string
}

type requestIDKey struct{}

// Value implements context.Context.
func (c *identified) Value(key any) any {
	if _, ok := key.(requestIDKey); ok {
		return c.id[0]
	}
	return c.Context.Value(key)
}

// Identify sets the id of a request in its answer, whatever the answer is, and returns the request's context, which
// knows it, too.
func Identify(ctx context.Context, w http.ResponseWriter, r *http.Request) context.Context {
	c := &identified{Context: ctx, id: [1]string{r.Header.Get(requestIDHeader)}}
	if !isRequestID(c.id[0]) {
		c.id[0] = newRequestID()
	}
	w.Header()[requestIDHeader] = c.id[:]
	return c
}

// isRequestID reports whether a caller's id can be kept: it is short and can be shown anywhere.
func isRequestID(id string) bool {
	return id != "" && len(id) <= maxRequestID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Each process has a random prefix, and counts its requests.
var (
	requestPrefix = sync.OnceValue(func() string { return rand.Text()[:10] + "-" })
	requestCount  atomic.Int64
)

func newRequestID() string {
	var text [40]byte
	return string(strconv.AppendInt(append(text[:0], requestPrefix()...), requestCount.Add(1), 10))
}

// withRequestID is a handler that adds the id of the request to each line that is logged with its context.
type withRequestID struct{ slog.Handler }

// Handle implements slog.Handler.
func (h withRequestID) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("xRequestId", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h withRequestID) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequestID{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h withRequestID) WithGroup(name string) slog.Handler {
	return withRequestID{h.Handler.WithGroup(name)}
}
