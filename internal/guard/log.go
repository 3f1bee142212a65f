package guard

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// The maximum rate and burst of log lines about rejected requests, in lines per second and
// lines.
const (
	toldRate  = 5
	toldBurst = 100
)

// BoundedLog returns a log for messages that strangers can cause as often as they like,
// such as rejected requests. Beyond a rate, lines below level error are dropped and
// counted; the next line reports their number as "suppressed". Errors are always logged.
func BoundedLog(log *slog.Logger) *slog.Logger {
	return slog.New(&boundedLog{log.Handler(), rate.NewLimiter(toldRate, toldBurst), new(atomic.Int64)})
}

type boundedLog struct {
	slog.Handler
	limiter    *rate.Limiter
	suppressed *atomic.Int64
}

// Handle implements slog.Handler.
func (b *boundedLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		return b.Handler.Handle(ctx, r)
	}
	if !b.limiter.Allow() {
		b.suppressed.Add(1)
		return nil
	}
	if n := b.suppressed.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", n))
	}
	return b.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (b *boundedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &boundedLog{b.Handler.WithAttrs(attrs), b.limiter, b.suppressed}
}

// WithGroup implements slog.Handler.
func (b *boundedLog) WithGroup(name string) slog.Handler {
	return &boundedLog{b.Handler.WithGroup(name), b.limiter, b.suppressed}
}
