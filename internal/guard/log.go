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

// ThinnedLog returns a log in which each warning or error about an unavailable store is logged at most
// once in thinnedEvery, after a few at once: whatever needs the store fails until it is back, which the
// store logs itself.
func ThinnedLog(log *slog.Logger) *slog.Logger {
	var byMessage sync.Map
	return slog.New(&boundedLog{log.Handler(), func(r slog.Record) *bounds {
		if r.Level < slog.LevelWarn || !aboutStore(r) {
			return nil
		}
		known, _ := byMessage.LoadOrStore(r.Message, newBounds(rate.Every(thinnedEvery), thinnedBurst))
		of, _ := known.(*bounds)
		return of
	}})
}

const (
	thinnedEvery = 30 * time.Second
	thinnedBurst = 3
)

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
	all := newBounds(toldRate, toldBurst)
	return slog.New(&boundedLog{log.Handler(), func(r slog.Record) *bounds {
		if r.Level >= slog.LevelError {
			return nil
		}
		return all
	}})
}

type boundedLog struct {
	slog.Handler
	// boundsOf returns the bounds for a line; nil for none.
	boundsOf func(slog.Record) *bounds
}

// bounds limit lines, and count those that were dropped.
type bounds struct {
	limiter    *rate.Limiter
	suppressed atomic.Int64
}

func newBounds(limit rate.Limit, burst int) *bounds {
	return &bounds{limiter: rate.NewLimiter(limit, burst)}
}

// Handle implements slog.Handler.
func (b *boundedLog) Handle(ctx context.Context, r slog.Record) error {
	of := b.boundsOf(r)
	if of == nil {
		return b.Handler.Handle(ctx, r)
	}
	if !of.limiter.Allow() {
		of.suppressed.Add(1)
		return nil
	}
	if n := of.suppressed.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", n))
	}
	return b.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (b *boundedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &boundedLog{b.Handler.WithAttrs(attrs), b.boundsOf}
}

// WithGroup implements slog.Handler.
func (b *boundedLog) WithGroup(name string) slog.Handler {
	return &boundedLog{b.Handler.WithGroup(name), b.boundsOf}
}
