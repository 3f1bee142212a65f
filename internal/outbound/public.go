package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// ErrForbidden is returned for an address that must not be called.
var ErrForbidden = errors.New("this address may not be called")

// Control restricts a net.Dialer to public addresses. As its ControlContext, it is called
// for each address after the name was resolved. The error is an ErrForbidden.
func Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrForbidden
	}
	if ip := at.Addr(); !isPublic(ip) {
		return fmt.Errorf("%w: %s is not public", ErrForbidden, ip.Unmap())
	}
	return nil
}

// notPublic contains networks that netip does not recognize as private, loopback,
// link-local or multicast. Some of them may lead into our own network, the others nowhere.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this host, on some systems
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT (RFC 6598), used by clouds for services
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments, likewise
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("::/96"),           // contains an IPv4 address, as do the next four
	netip.MustParsePrefix("::ffff:0:0:0/96"), // SIIT
	netip.MustParsePrefix("64:ff9b::/16"),    // NAT64
	netip.MustParsePrefix("2002::/16"),       // 6to4
	netip.MustParsePrefix("2001::/32"),       // Teredo
	netip.MustParsePrefix("fec0::/10"),       // site-local (deprecated)
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(network netip.Prefix) bool { return network.Contains(ip) })
}

// Resolve returns an address of a host, for a program that makes its own connections and is
// to be given the address instead of the name. If any address of the host is not public,
// the error is an ErrForbidden.
func Resolve(ctx context.Context, host string) (netip.Addr, error) {
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, ip := range all {
		if !isPublic(ip) {
			return netip.Addr{}, fmt.Errorf("%w: %s is not public", ErrForbidden, host)
		}
	}
	if len(all) == 0 {
		return netip.Addr{}, &net.DNSError{Err: "no address", Name: host}
	}
	return all[0].Unmap(), nil
}
