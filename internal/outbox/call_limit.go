package outbox

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

const (
	// maxCalls is how many calls of other servers a node has under way at once, and maxCallsOfHost
	// how many of them go to one host: a receiver that never answers holds up no other, and uses up
	// no descriptors.
	maxCalls       = 64
	maxCallsOfHost = 8
	// maxInLine is how many calls wait for room, and lineWait for how long: most receivers answer
	// at once.
	maxInLine = 64
	lineWait  = 2 * time.Second
)

// errBusy is returned instead of making a call if there is no room for it now.
var errBusy = errors.New("too many calls are under way")

// callLimit counts the calls under way, by host.
type callLimit struct {
	mu     sync.Mutex
	all    int
	inLine int
	hosts  map[string]int
	// ended is closed when a call has ended, and replaced.
	ended chan struct{}
}

func newCallLimit() *callLimit {
	return &callLimit{hosts: map[string]int{}, ended: make(chan struct{})}
}

// bound is a SendFunc that returns errBusy if there is no room for a call.
func (l *callLimit) bound(send SendFunc) SendFunc {
	return func(ctx context.Context, address, id string, body []byte) ([]byte, error) {
		host := ""
		if u, err := url.Parse(address); err == nil {
			host = u.Host
		}
		if !l.await(ctx, host) {
			return nil, errBusy
		}
		defer l.end(host)
		return send(ctx, address, id, body)
	}
}

// await waits for room; false if there is none in time.
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

// begin counts a call if there is room for it, else it returns what is closed when there may be.
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

// queue counts a call that waits; false if there is no room for that either.
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
