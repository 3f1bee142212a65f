package fault

import (
	"slices"
	"sync"
	"time"
)

// losses are the periods in which accepted data may be lost, because the store goes back to
// an earlier state and its settings do not guarantee more.
type losses struct {
	// reportsOnly is set if responses wait for replicas (REDIS_WAIT): then only progress
	// reports, which do not wait, and what servers have done on their own are lost.
	reportsOnly bool

	mu      sync.Mutex
	windows []window
}

// window is one such period.
type window struct{ begin, end time.Time }

// late is how much later than its acceptance something may be recorded, because the
// recording process may have been paused.
const late = 5 * time.Second

func (l *losses) add(begin, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.windows = append(l.windows, window{begin, end.Add(late)})
}

// count returns how often the store may have gone back.
func (l *losses) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.windows)
}

// cover reports whether data recorded at a time may be lost.
func (l *losses) cover(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.windows, func(w window) bool { return t.After(w.begin) && t.Before(w.end) })
}

// mayGoBack reports whether the store may have lost something so far; mayLose, whether that
// may include what clients rely on.
func (w *world) mayGoBack() bool { return w.losses.count() > 0 }
func (w *world) mayLose() bool   { return w.mayGoBack() && !w.losses.reportsOnly }

// promised returns the notes except acceptances that may be lost.
func (w *world) promised(notes []note) []note {
	lost := []string{acceptedProgress}
	if !w.losses.reportsOnly {
		lost = append(lost, acceptedResult, acceptedReply, acceptedCancel, acceptedMessage)
	}
	return slices.DeleteFunc(slices.Clone(notes), func(n note) bool {
		return slices.Contains(lost, n.What) && w.losses.cover(n.Time)
	})
}
