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

// bound returns a SendFunc that returns errBusy if no slot is free.
func (l *callLimit) bound(send SendFunc) SendFunc {
	return func(ctx context.Context, address, id string, body []byte) ([]byte, error) {
		host := job.HostOf(address)
		if !l.begin(ctx, host) {
			return nil, errBusy
		}
		defer l.end(host)
		return send(ctx, address, id, body)
	}
}

// begin waits for a slot; false if none is free in time, or too many calls wait already.
func (l *callLimit) begin(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, lineWait)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	isFree := func() bool { return l.all < maxCalls && l.hosts[host] < maxCallsOfHost }
	if !isFree() && l.inLine >= maxInLine {
		return false
	}
	l.inLine++
	for !isFree() && ctx.Err() == nil {
		ended := l.ended
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-ended:
		}
		l.mu.Lock()
	}
	l.inLine--
	if !isFree() {
		return false
	}
	l.all++
	l.hosts[host]++
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
