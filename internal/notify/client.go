package notify

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"ringback/internal/outbound"
)

// newClient returns a client that follows no redirects. A guarded one connects
// to public addresses only, whatever a name resolves to.
func newClient(guarded bool) *http.Client {
	dialer := &net.Dialer{Timeout: maxDial}
	if guarded {
		dialer.ControlContext = outbound.Control
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: maxDial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
			Proxy: proxyFor(guarded), ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// proxyFor keeps guarded calls from a proxy, which would connect to anything.
func proxyFor(guarded bool) func(*http.Request) (*url.URL, error) {
	if guarded {
		return nil
	}
	return http.ProxyFromEnvironment
}
