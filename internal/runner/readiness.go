package runner

import (
	"sync"

	"ringback/internal/store"
)

// readiness remembers which partitions may have a job waiting, so that workers
// neither poll nor ask in vain.
type readiness struct {
	mu    sync.Mutex
	ready [store.Partitions]bool
	next  store.Partition
	wake  chan struct{}
}

func newReadiness() *readiness { return &readiness{wake: make(chan struct{}, 1)} }

func (r *readiness) add(p store.Partition) {
	r.mu.Lock()
	r.ready[p] = true
	r.mu.Unlock()
	r.notify()
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

// take returns the next partition to look at, in turn so that none is starved.
// It counts as empty from now on, unless it is added again.
func (r *readiness) take() (store.Partition, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.ready {
		p := r.next
		r.next = (r.next + 1) % store.Partitions
		if r.ready[p] {
			r.ready[p] = false
			return p, true
		}
	}
	return 0, false
}
