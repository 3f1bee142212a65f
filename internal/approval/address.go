package approval

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"ringback/internal/lazy"
)

// matchAddress compares an address with "domain:example.com", "domain:*.example.com" (the
// domain and its subdomains) or a pattern for the whole URL.
func matchAddress(pattern, address string) extent {
	u := plainAddress(address)
	if u == nil {
		return unseen
	}
	var matched extent
	if domain, ok := strings.CutPrefix(pattern, "domain:"); ok {
		matched = matchDomain(domain, u)
	} else {
		matched = matchURL(pattern, address, u)
	}
	if u.User != nil { // user info before the host can mislead the reader
		matched = max(min(matched, part), unseen)
	}
	return matched
}

func matchDomain(domain string, u *url.URL) extent {
	host := plainHost(u.Hostname())
	base, below := strings.CutPrefix(strings.ToLower(domain), "*.")
	base = plainHost(base)
	if domain == "*" || host == base || below && strings.HasSuffix(host, "."+base) {
		return whole
	}
	return none
}

// matchURL compares a whole URL. To be allowed, host and rest must each match as written;
// for a deny rule, all equivalent URLs count as the same.
func matchURL(pattern, address string, u *url.URL) extent {
	scheme, rest, _ := strings.Cut(pattern, "://")
	host, path, hasPath := strings.Cut(rest, "/")
	_, addressRest, _ := strings.Cut(address, "://")
	_, addressPath, _ := strings.Cut(addressRest, "/")
	base, below := strings.CutPrefix(strings.ToLower(host), "*.")
	sameHost := !strings.Contains(base, "*") &&
		(strings.EqualFold(u.Host, base) || below && strings.HasSuffix(strings.ToLower(u.Host), "."+base))
	switch {
	case climbs(u.Path):
		return unseen
	case strings.EqualFold(scheme, u.Scheme) && sameHost && (wildcard(path, addressPath) || !hasPath && addressPath == ""):
		return whole
	case slices.ContainsFunc(spellings(u), func(spelling string) bool { return wildcard(strings.ToLower(pattern), spelling) }):
		return part
	}
	return none
}

// spellings returns equivalent ways to write a URL, in lower case.
func spellings(u *url.URL) (all []string) {
	for _, scheme := range []string{"http", "https"} { // the CLI converts between the two
		for _, host := range []string{plainHost(u.Hostname()), strings.ToLower(u.Host)} {
			for _, path := range []string{u.Path, u.EscapedPath()} {
				for path := range strings.SplitSeq(path+"\x00"+path+"/", "\x00") {
					same := url.URL{Scheme: scheme, Host: host, RawQuery: u.RawQuery}
					all = append(all, strings.ToLower(scheme+"://"+host+path), strings.ToLower(scheme+"://"+host+path+"?"+same.RawQuery))
				}
			}
		}
	}
	return all
}

var (
	plainName    = lazy.Regexp(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)
	numericLabel = lazy.Regexp(`^([0-9]+|0x[0-9a-f]*)$`)
)

// plainAddress parses an address that every program reads the same way. It returns nil if a
// browser might read it differently.
func plainAddress(address string) *url.URL {
	if strings.ContainsFunc(address, func(c rune) bool { return c >= unicode.MaxASCII || c <= ' ' || c == '\\' }) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || plainHost(u.Hostname()) == "" {
		return nil
	}
	return u
}

// plainHost returns the canonical form of a host. It is empty for a host that programs may
// read differently: a numeric IP address in disguise, percent signs, empty labels.
func plainHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && addr.Zone() == "" {
		return addr.Unmap().String()
	}
	if !plainName().MatchString(host) || numericLabel().MatchString(host[strings.LastIndexByte(host, '.')+1:]) {
		return ""
	}
	return host
}

// climbs reports whether a path contains "." or ".." segments or a backslash, encoded or
// not, and so may lead somewhere else than it seems to.
func climbs(path string) bool {
	for range 2 { // some servers decode twice
		if slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return name == "." || name == ".." }) {
			return true
		}
		if decoded, err := url.PathUnescape(path); err == nil {
			path = decoded
		}
	}
	return strings.Contains(path, `\`)
}
