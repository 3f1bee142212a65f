package guard

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// How many lines a second the log takes of those who are turned away, and how many at once.
const (
	toldRate  = 5
	toldBurst = 100
)

// BoundedLog returns a log for what strangers can have written, as often as they like: that
// they were turned away. Beyond a rate, lines below an error are counted, and the next one
// says as untold how many. Errors are written always.
func BoundedLog(log *slog.Logger) *slog.Logger {
	return slog.New(&boundedLog{log.Handler(), rate.NewLimiter(toldRate, toldBurst), new(atomic.Int64)})
}

type boundedLog struct {
	slog.Handler
	limiter *rate.Limiter
	untold  *atomic.Int64
}

// Handle implements slog.Handler.
func (b *boundedLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		return b.Handler.Handle(ctx, r)
	}
	if !b.limiter.Allow() {
		b.untold.Add(1)
		return nil
	}
	if n := b.untold.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("untold", n))
	}
	return b.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (b *boundedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &boundedLog{b.Handler.WithAttrs(attrs), b.limiter, b.untold}
}

// WithGroup implements slog.Handler.
func (b *boundedLog) WithGroup(name string) slog.Handler {
	return &boundedLog{b.Handler.WithGroup(name), b.limiter, b.untold}
}
