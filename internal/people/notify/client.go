package notify

import (
	"net"
	"net/http"
	"time"

	"ringback/internal/outbound"
)

// newClient returns a client that does not follow redirects. A guarded one connects only to
// public addresses, whatever a name resolves to.
func newClient(guarded bool) *http.Client {
	dialer, proxy := &net.Dialer{Timeout: maxDial}, http.ProxyFromEnvironment
	if guarded {
		dialer.ControlContext, proxy = outbound.Control, nil // a proxy would connect to any address
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: maxDial, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
			Proxy: proxy, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
