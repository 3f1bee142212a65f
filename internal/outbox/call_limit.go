package outbox

import (
	"context"
	"errors"
	"net/url"
	"sync"
)

const (
	// maxCalls is how many calls of other servers a node has under way at once, and maxCallsOfHost
	// how many of them go to one host: a receiver that never answers holds up no other, and uses up
	// no descriptors.
	maxCalls       = 64
	maxCallsOfHost = 8
)

// errBusy is returned in the place of a call for which there is no room now.
var errBusy = errors.New("as many calls as may be are under way")

// callLimit counts the calls under way, by host.
type callLimit struct {
	mu    sync.Mutex
	all   int
	hosts map[string]int
}

func newCallLimit() *callLimit { return &callLimit{hosts: map[string]int{}} }

// bound is a SendFunc that returns errBusy where there is no room for a call.
func (l *callLimit) bound(send SendFunc) SendFunc {
	return func(ctx context.Context, address, id string, body []byte) ([]byte, error) {
		host := ""
		if u, err := url.Parse(address); err == nil {
			host = u.Host
		}
		if !l.begin(host) {
			return nil, errBusy
		}
		defer l.end(host)
		return send(ctx, address, id, body)
	}
}

func (l *callLimit) begin(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxCalls || l.hosts[host] >= maxCallsOfHost {
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
}
