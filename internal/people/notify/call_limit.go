package notify

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"ringback/internal/job"
)

const (
	// maxCalls limits a node's concurrent calls to other servers, and maxCallsOfHost those
	// to one host: a receiver that never responds delays no other, and does not use up the
	// descriptors.
	maxCalls       = 64
	maxCallsOfHost = 8
	// maxInLine limits how many calls wait for a slot, and lineWait for how long: most
	// receivers respond immediately.
	maxInLine = 64
	lineWait  = 2 * time.Second
	// maxHosts limits the hosts of which the calls are counted.
	maxHosts = 1 << 12
)

// errBusy is returned instead of making a call if no slot is free.
var errBusy = errors.New("too many calls are under way")

// callLimit limits the calls in progress.
type callLimit struct {
	all, inLine *semaphore.Weighted
	hosts       *lru.Cache[string, *semaphore.Weighted]
}

func newCallLimit() *callLimit {
	hosts, err := lru.New[string, *semaphore.Weighted](maxHosts)
	if err != nil {
		panic("notify: " + err.Error()) // only for a size below 1
	}
	return &callLimit{semaphore.NewWeighted(maxCalls), semaphore.NewWeighted(maxInLine), hosts}
}

// bound returns a SendFunc that returns errBusy if no slot is free in time, or too many calls wait already.
func (l *callLimit) bound(send SendFunc) SendFunc {
	return func(ctx context.Context, address, id string, body []byte) error {
		ofHost := semaphore.NewWeighted(maxCallsOfHost)
		if known, ok, _ := l.hosts.PeekOrAdd(job.HostOf(address), ofHost); ok {
			ofHost = known
		}
		inTime, cancel := context.WithTimeout(ctx, lineWait)
		defer cancel()
		for _, slots := range []*semaphore.Weighted{ofHost, l.all} { // a call that waits for its host takes no other slot
			if !l.wait(inTime, slots) {
				return errBusy
			}
			defer slots.Release(1)
		}
		return send(ctx, address, id, body)
	}
}

// wait waits for a slot until ctx ends.
func (l *callLimit) wait(ctx context.Context, slots *semaphore.Weighted) bool {
	if slots.TryAcquire(1) {
		return true
	}
	if !l.inLine.TryAcquire(1) {
		return false
	}
	defer l.inLine.Release(1)
	return slots.Acquire(ctx, 1) == nil
}
