package guard

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"ringback/internal/job"
)

// The maximum rate and burst of log lines about rejected requests, in lines per second and
// lines.
const (
	toldRate  = 5
	toldBurst = 100
)

// ThinnedLog returns a log in which each warning or error about an unavailable store is logged at most once in
// thinnedEvery, after a few at once: whatever needs the store fails until it is back, which the store
// logs itself.
func ThinnedLog(log *slog.Logger) *slog.Logger {
	return slog.New(&thinnedLog{log.Handler(), new(sync.Map)})
}

const (
	thinnedEvery = 30 * time.Second
	thinnedBurst = 3
)

type thinnedLog struct {
	slog.Handler
	// byMessage contains a *boundedLog for each message.
	byMessage *sync.Map
}

// Handle implements slog.Handler.
func (t *thinnedLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || !aboutStore(r) {
		return t.Handler.Handle(ctx, r)
	}
	fresh := &bounds{limiter: rate.NewLimiter(rate.Every(thinnedEvery), thinnedBurst)}
	known, _ := t.byMessage.LoadOrStore(r.Message, fresh)
	of, _ := known.(*bounds)
	return of.handle(ctx, t.Handler, r)
}

// WithAttrs implements slog.Handler.
func (t *thinnedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &thinnedLog{t.Handler.WithAttrs(attrs), t.byMessage}
}

// WithGroup implements slog.Handler.
func (t *thinnedLog) WithGroup(name string) slog.Handler {
	return &thinnedLog{t.Handler.WithGroup(name), t.byMessage}
}

// aboutStore reports whether a line has an error of an unavailable store.
func aboutStore(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && job.HasKind(err, job.Unavailable)
		return !found
	})
	return found
}

// BoundedLog returns a log for messages that strangers can cause as often as they like,
// such as rejected requests. Beyond a rate, lines below level error are dropped and
// counted; the next line reports their number as "suppressed". Errors are always logged.
func BoundedLog(log *slog.Logger) *slog.Logger {
	return slog.New(&boundedLog{log.Handler(), &bounds{limiter: rate.NewLimiter(toldRate, toldBurst)}})
}

type boundedLog struct {
	slog.Handler
	*bounds
}

// bounds limit the lines of a log, and count those that were dropped.
type bounds struct {
	limiter    *rate.Limiter
	suppressed atomic.Int64
}

func (b *bounds) handle(ctx context.Context, to slog.Handler, r slog.Record) error {
	if !b.limiter.Allow() {
		b.suppressed.Add(1)
		return nil
	}
	if n := b.suppressed.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", n))
	}
	return to.Handle(ctx, r)
}

// Handle implements slog.Handler.
func (b *boundedLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		return b.Handler.Handle(ctx, r)
	}
	return b.handle(ctx, b.Handler, r)
}

// WithAttrs implements slog.Handler.
func (b *boundedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &boundedLog{b.Handler.WithAttrs(attrs), b.bounds}
}

// WithGroup implements slog.Handler.
func (b *boundedLog) WithGroup(name string) slog.Handler {
	return &boundedLog{b.Handler.WithGroup(name), b.bounds}
}
