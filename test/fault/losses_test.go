package fault

import (
	"slices"
	"sync"
	"time"
)

// losses are the times at which what was accepted may be lost, since the store then goes
// back to an earlier state and its settings promise no more.
type losses struct {
	// reportsOnly is where answers wait for replicas (REDIS_WAIT): only reports of progress,
	// which do not, and what servers have done by themselves, are lost then.
	reportsOnly bool

	mu      sync.Mutex
	windows []window
}

// window is one of them.
type window struct{ begin, end time.Time }

// late is how much later than it was accepted something may be written down: whoever
// heard of it may have been paused.
const late = 5 * time.Second

func (l *losses) add(begin, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.windows = append(l.windows, window{begin, end.Add(late)})
}

// count is how often the store may have gone back.
func (l *losses) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.windows)
}

// cover reports whether what was written down then may be lost.
func (l *losses) cover(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.windows, func(w window) bool { return t.After(w.begin) && t.Before(w.end) })
}

// mayGoBack reports whether the store may have lost something so far; mayLose, whether
// that may be what somebody relies on.
func (w *world) mayGoBack() bool { return w.losses.count() > 0 }
func (w *world) mayLose() bool   { return w.mayGoBack() && !w.losses.reportsOnly }

// promised are the notes without those of acceptances that may be lost.
func (w *world) promised(notes []note) []note {
	lost := []string{acceptedProgress}
	if !w.losses.reportsOnly {
		lost = append(lost, acceptedResult, acceptedReply, acceptedCancel, acceptedMessage)
	}
	return slices.DeleteFunc(slices.Clone(notes), func(n note) bool {
		return slices.Contains(lost, n.What) && w.losses.cover(n.Time)
	})
}
