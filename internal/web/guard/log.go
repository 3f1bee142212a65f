package guard

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"ringback/internal/job"
)

// The maximum rate and burst of log lines about rejected requests, in lines per second and
// lines.
const (
	refusalRate  = 5
	refusalBurst = 100
)

// ThinnedLog returns a log in which warnings and errors of one cause do not pile up: lines with the same
// message about the same job are logged up to repeatedBurst at once, and then at most once in
// repeatedEvery. Those about an unavailable store are logged much less: whatever needs the store fails
// until it is back, which the store logs itself. Lines that are logged with the context of a request have its id.
func ThinnedLog(log *slog.Logger) *slog.Logger {
	byCause, err := lru.New[string, *bounds](knownCauses)
	if err != nil {
		return log // never: the size is positive
	}
	var mu sync.Mutex
	return slog.New(&boundedLog{withRequestID{log.Handler()}, func(r slog.Record, job string) *bounds {
		if r.Level < slog.LevelWarn {
			return nil
		}
		cause, every, burst := r.Message+"\n"+job, repeatedEvery, repeatedBurst
		if aboutStore(r) {
			cause, every, burst = r.Message, thinnedEvery, thinnedBurst
		}
		mu.Lock()
		defer mu.Unlock()
		of, ok := byCause.Get(cause)
		if !ok {
			of = newBounds(rate.Every(every), burst)
			byCause.Add(cause, of)
		}
		return of
	}, ""})
}

const (
	thinnedEvery  = 30 * time.Second
	thinnedBurst  = 3
	repeatedEvery = time.Second
	repeatedBurst = 100
	// knownCauses limits the causes with counted lines.
	knownCauses = 1000
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
	all := newBounds(refusalRate, refusalBurst)
	return slog.New(&boundedLog{log.Handler(), func(r slog.Record, _ string) *bounds {
		if r.Level >= slog.LevelError {
			return nil
		}
		return all
	}, ""})
}

type boundedLog struct {
	slog.Handler
	// boundsOf returns the bounds for a line about a job, or about none; nil for no bounds.
	boundsOf func(r slog.Record, job string) *bounds
	// job is the one that all lines are about; "" if they are not.
	job string
}

// jobOf returns the job that one of the attributes names; otherwise known.
func jobOf(known string, attrs iter.Seq[slog.Attr]) string {
	for a := range attrs {
		if a.Key == "requestId" {
			return a.Value.String()
		}
	}
	return known
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
	of := b.boundsOf(r, jobOf(b.job, r.Attrs))
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
	return &boundedLog{b.Handler.WithAttrs(attrs), b.boundsOf, jobOf(b.job, slices.Values(attrs))}
}

// WithGroup implements slog.Handler.
func (b *boundedLog) WithGroup(name string) slog.Handler {
	return &boundedLog{b.Handler.WithGroup(name), b.boundsOf, b.job}
}
