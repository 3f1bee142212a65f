package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

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
)

// errBusy is returned instead of making a call if no slot is free.
var errBusy = errors.New("too many calls are under way")

// callLimit counts the calls in progress, by host.
type callLimit struct {
	mu     sync.Mutex
	all    int
	inLine int
	hosts  map[string]int
	// ended is closed and replaced when a call has ended.
	ended chan struct{}
}

func newCallLimit() *callLimit {
	return &callLimit{hosts: map[string]int{}, ended: make(chan struct{})}
}

// bound returns a SendFunc that returns errBusy if no slot is free.
func (l *callLimit) bound(send SendFunc) SendFunc {
	return func(ctx context.Context, address, id string, body []byte) ([]byte, error) {
		host := job.HostOf(address)
		if !l.await(ctx, host) {
			return nil, errBusy
		}
		defer l.end(host)
		return send(ctx, address, id, body)
	}
}

// await waits for a slot; false if none is free in time.
func (l *callLimit) await(ctx context.Context, host string) bool {
	begun, ended := l.begin(host)
	if begun || !l.queue(1) {
		return begun
	}
	defer l.queue(-1)
	timeout := time.NewTimer(lineWait)
	defer timeout.Stop()
	for !begun {
		select {
		case <-ctx.Done():
			return false
		case <-timeout.C:
			return false
		case <-ended:
			begun, ended = l.begin(host)
		}
	}
	return true
}

// begin takes a slot for a call, or returns a channel that is closed when one may be free.
func (l *callLimit) begin(host string) (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxCalls || l.hosts[host] >= maxCallsOfHost {
		return false, l.ended
	}
	l.all++
	l.hosts[host]++
	return true, nil
}

// queue counts a waiting call; false if too many wait already.
func (l *callLimit) queue(by int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inLine+by > maxInLine {
		return false
	}
	l.inLine += by
	return true
}

func (l *callLimit) end(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
	close(l.ended)
	l.ended = make(chan struct{})
}
