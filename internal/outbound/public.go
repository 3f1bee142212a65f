package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrForbidden is an address that must not be called.
var ErrForbidden = errors.New("this address may not be called")

// Control lets a net.Dialer connect to public addresses only. It is its ControlContext,
// and so is asked for each address after the name was resolved. The error is an
// ErrForbidden.
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

// notPublic are networks beside those that netip knows as private, loopback, link-local
// or multicast: some lead into a network of ours, the others nowhere.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this host, on some systems
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT (RFC 6598), where clouds keep services of theirs
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments, likewise
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("::/96"),           // stands for an IPv4 address, as do the next four
	netip.MustParsePrefix("::ffff:0:0:0/96"), // SIIT
	netip.MustParsePrefix("64:ff9b::/16"),    // NAT64
	netip.MustParsePrefix("2002::/16"),       // 6to4
	netip.MustParsePrefix("2001::/32"),       // Teredo
	netip.MustParsePrefix("fec0::/10"),       // site-local, as they once were
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, network := range notPublic {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

// Resolve returns an address of a host for a program that dials by itself, and is to be
// given this address instead of the name. Where any address of the host is not public,
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
