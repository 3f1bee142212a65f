package notify

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"ringback/internal/outbound"
)

// newClient returns a client that does not follow redirects. A guarded one connects only to
// public addresses, whatever a name resolves to.
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

// proxyFor makes guarded calls bypass proxies, which would connect to any address.
func proxyFor(guarded bool) func(*http.Request) (*url.URL, error) {
	if guarded {
		return nil
	}
	return http.ProxyFromEnvironment
}
