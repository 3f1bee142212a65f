package outbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/idna"
)

// Hosts is the set of hosts that a Proxy may call.
type Hosts struct {
	// public is true if the set includes all public addresses.
	public bool
	rules  []hostRule
}

// hostRule is one entry of a list of hosts.
type hostRule struct {
	// pattern is a name in lower case. Labels may contain "*", and a leading "*." matches
	// any subdomain.
	pattern string
	// address is set instead of pattern if the entry is an address. Only such an entry
	// allows an address that is not public.
	address netip.Addr
	// port is 0 for 80 and 443.
	port uint16
	// publicOnly is true if address must be public, too, because the entry is untrusted.
	publicOnly bool
	// trusted is true for hosts of the operator's own configuration, which may have any
	// address.
	trusted bool
}

// Named returns the hosts that a kind lists: "registry.npmjs.org", "*.example.com",
// "example.com:8443", "10.1.2.3:5000". The error describes an invalid entry.
func Named(list []string) (Hosts, error) { return parseHosts(list, false) }

// Trusted returns hosts of the operator's own configuration, which may have any address.
func Trusted(list []string) (Hosts, error) { return parseHosts(list, true) }

// Public returns all public addresses.
func Public() Hosts { return Hosts{public: true} }

// Only returns a single untrusted host and port, which must be public.
func Only(address string) Hosts {
	rule, ok := parseHostRule(address)
	if !ok {
		return Hosts{}
	}
	rule.publicOnly = true
	return Hosts{rules: []hostRule{rule}}
}

// And returns the union of both sets.
func (h Hosts) And(others Hosts) Hosts {
	return Hosts{h.public || others.public, slices.Concat(h.rules, others.rules)}
}

func parseHosts(list []string, trusted bool) (h Hosts, err error) {
	for _, entry := range list {
		rule, ok := parseHostRule(entry)
		if !ok {
			return Hosts{}, fmt.Errorf(
				`found %q; expected the name of a host, such as "example.com", "*.example.com" or "example.com:8443"`, entry,
			)
		}
		rule.trusted = trusted
		h.rules = append(h.rules, rule)
	}
	return h, nil
}

func parseHostRule(entry string) (hostRule, bool) {
	if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return hostRule{address: ip.Unmap()}, ip.Zone() == ""
	}
	host, port := entry, ""
	if strings.Contains(entry, ":") {
		var err error
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return hostRule{}, false
		}
	}
	n, err := strconv.ParseUint(cmp.Or(port, "0"), 10, 16)
	if err != nil || port != "" && n == 0 {
		return hostRule{}, false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return hostRule{address: ip.Unmap(), port: uint16(n)}, ip.Zone() == ""
	}
	pattern := strings.ToLower(host)
	return hostRule{pattern: pattern, port: uint16(n)}, isHostPattern(pattern)
}

// isHostPattern reports whether a text is a host name made of letters, digits, hyphens,
// underscores and stars. The last label must not be numeric, because some programs read
// such a name as an address.
func isHostPattern(text string) bool {
	labels := strings.Split(text, ".")
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") || strings.Contains(last, "*") {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_*") != "" {
			return false
		}
	}
	return len(text) <= 253
}

func (h Hosts) find(host string, port uint16) (hostRule, bool) {
	name, isHost := canonical(host)
	if !isHost {
		return hostRule{}, false
	}
	address, err := netip.ParseAddr(name)
	isAddress := err == nil
	for _, r := range h.rules {
		if r.port != port && (r.port != 0 || port != 80 && port != 443) {
			continue
		}
		if isAddress && r.address == address || !isAddress && r.covers(name) {
			return r, true
		}
	}
	return hostRule{}, h.public
}

func (r hostRule) covers(name string) bool {
	if r.pattern == "" || r.pattern == name {
		return r.pattern != ""
	}
	if suffix, below := strings.CutPrefix(r.pattern, "*."); below && !strings.Contains(suffix, "*") {
		return strings.HasSuffix(name, "."+suffix) && len(name) > len(suffix)+1
	}
	// In path.Match, a star stays within its segment.
	matched, err := path.Match(strings.ReplaceAll(r.pattern, ".", "/"), strings.ReplaceAll(name, ".", "/"))
	return matched && err == nil
}

// admits reports whether a rule allows an address that a name was resolved to.
func (r hostRule) admits(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return r.trusted || r.address.IsValid() && r.address == ip && !r.publicOnly || isPublic(ip) && !isOwn(ip)
}

// isOwn reports whether an address belongs to this machine: services there are not meant to
// be public, even if the address is.
func isOwn(ip netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		address, ok := netip.AddrFromSlice(n.IP)
		return ok && address.Unmap() == ip
	})
}

// IsWebAddress reports whether a text is a whole http or https URL of a host with one spelling.
func IsWebAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil && ascii != strings.ToLower(host) { // as net/http does
		if _, err := netip.ParseAddr(ascii); err == nil {
			return false
		}
		host = ascii
	}
	_, isHost := canonical(host)
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return isHost && (u.Port() == "" || err == nil)
}

// canonical returns the one spelling of a host, and whether it has one: whether it is an address in its usual
// form, or a name that no program reads as an address.
func canonical(host string) (name string, isHost bool) {
	name = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String(), ip.Zone() == ""
	}
	return name, isHostPattern(name) && !strings.Contains(name, "*")
}

// ErrForbidden is returned for an address that must not be called.
var ErrForbidden = errors.New("calls to this address are not allowed")

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
