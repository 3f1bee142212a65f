package outbound

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
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
func Named(list []string) (Hosts, error) { return named(list, false) }

// Trusted returns hosts of the operator's own configuration, which may have any address.
func Trusted(list []string) (Hosts, error) { return named(list, true) }

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

func named(list []string, trusted bool) (h Hosts, err error) {
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
