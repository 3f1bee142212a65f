package runner

import (
	"sync"
	"time"

	"ringback/internal/store"
)

// readiness tracks which partitions may have a waiting job, so that workers neither
// poll nor query empty ones.
type readiness struct {
	mu    sync.Mutex
	ready [store.Partitions]bool
	// held are the partitions that are left to other nodes for a moment.
	held [store.Partitions]bool
	next store.Partition
	// current is the last partition that was returned, and left is the number of takes in a row
	// that it still has. fresh is true until that number is known.
	current store.Partition
	left    int
	fresh   bool
	wake    chan struct{}
}

func newReadiness() *readiness { return &readiness{wake: make(chan struct{}, 1)} }

func (r *readiness) add(p store.Partition) {
	r.mu.Lock()
	r.ready[p] = true
	r.mu.Unlock()
	r.notify()
}

// holdBack leaves a partition to other nodes for a moment.
func (r *readiness) holdBack(p store.Partition, d time.Duration) {
	r.mu.Lock()
	r.held[p] = true
	r.mu.Unlock()
	time.AfterFunc(d, func() {
		r.mu.Lock()
		r.held[p] = false
		r.mu.Unlock()
		r.add(p)
	})
}

func (r *readiness) addAll() {
	r.mu.Lock()
	for p := range r.ready {
		r.ready[p] = true
	}
	r.mu.Unlock()
	r.notify()
}

func (r *readiness) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// again adds a partition from which a job was taken. Partitions take turns, and each has as many
// takes in a row as users wait there, so that no user waits longer for sharing a partition with many
// others.
func (r *readiness) again(p store.Partition, users int) {
	r.mu.Lock()
	if p == r.current && r.fresh {
		r.left, r.fresh = max(0, users-1), false
	}
	r.mu.Unlock()
	r.add(p)
}

// poll returns the next partition to poll. The partition counts as empty from then on, until it
// is added again.
func (r *readiness) poll() (store.Partition, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left > 0 && r.ready[r.current] && !r.held[r.current] {
		r.left--
		r.ready[r.current] = false
		return r.current, true
	}
	for range r.ready {
		p := r.next
		r.next = (r.next + 1) % store.Partitions
		if r.ready[p] && !r.held[p] {
			r.ready[p] = false
			r.current, r.left, r.fresh = p, 0, true
			return p, true
		}
	}
	return 0, false
}
