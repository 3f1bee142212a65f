package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// errForbidden is an address that must not be called.
var errForbidden = errors.New("this address may not be called")

// newClient returns a client that follows no redirects. A guarded one connects
// to public addresses only, whatever a name resolves to.
func newClient(guarded bool) *http.Client {
	dialer := &net.Dialer{Timeout: maxDial}
	if guarded {
		dialer.ControlContext = refusePrivate
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

// refusePrivate is asked for each address, after the name was resolved.
func refusePrivate(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	if ip := at.Addr().Unmap(); !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) || translated(ip) {
		return fmt.Errorf("%w: %s is not public", errForbidden, ip)
	}
	return nil
}

// shared is carrier-grade NAT (RFC 6598), where clouds keep services of theirs.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// translated reports whether an IPv6 address stands for an IPv4 one (NAT64, 6to4).
func translated(ip netip.Addr) bool {
	return netip.MustParsePrefix("64:ff9b::/16").Contains(ip) || netip.MustParsePrefix("2002::/16").Contains(ip)
}
