package approval

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"ringback/internal/text/lazy"
)

// matchAddress compares an address with "domain:example.com", "domain:*.example.com" (the
// domain and its subdomains) or a pattern for the whole URL.
func matchAddress(pattern, address string) extent {
	u := plainAddress(address)
	if u == nil {
		return unclearMatch
	}
	var matched extent
	if domain, ok := strings.CutPrefix(pattern, "domain:"); ok {
		matched = matchDomain(domain, u)
	} else {
		matched = matchURL(pattern, address, u)
	}
	if u.User != nil { // user info before the host can mislead the reader
		matched = max(min(matched, partialMatch), unclearMatch)
	}
	return matched
}

func matchDomain(domain string, u *url.URL) extent {
	host := plainHost(u.Hostname())
	base, below := strings.CutPrefix(strings.ToLower(domain), "*.")
	base = plainHost(base)
	if domain == "*" || host == base || below && strings.HasSuffix(host, "."+base) {
		return fullMatch
	}
	return noMatch
}

// matchURL compares a whole URL. To be allowed, host and rest must each match as written. For
// a rule that asks or denies, all URLs that a server may take for the same one count as the
// same, and one that may be read in several ways cannot be seen to match.
func matchURL(pattern, address string, u *url.URL) extent {
	scheme, host, rest := splitAddress(pattern)
	_, _, given := splitAddress(address)
	name := url.URL{Host: host}
	if matchDomain(name.Hostname(), u) == noMatch {
		return noMatch
	}
	path, certain := readPath(u.EscapedPath())
	if climbs(path) {
		return unclearMatch
	}
	if strings.EqualFold(scheme, u.Scheme) && samePort(name, u) && wildcard(rest, given) {
		return fullMatch
	}
	wanted, query, hasQuery := strings.Cut(rest, "?")
	wanted, _ = readPath(wanted)
	switch samePath := wildcard(wanted, path) || wildcard(wanted, strings.TrimSuffix(path, "/")+"/"); {
	case samePath && (!hasQuery || wildcard(strings.ToLower(query), strings.ToLower(u.RawQuery))):
		return partialMatch
	case samePath && u.RawQuery != "", !certain:
		return unclearMatch
	}
	return noMatch
}

// splitAddress splits a URL, or a pattern for one, into scheme, host and the rest. Without a
// path, the rest is a slash.
func splitAddress(text string) (scheme, host, rest string) {
	scheme, rest, _ = strings.Cut(text, "://")
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host, rest = rest[:at], rest[at:]
	} else {
		host, rest = rest, "/"
	}
	return scheme, host, rest
}

func samePort(pattern url.URL, u *url.URL) bool {
	return pattern.Port() == u.Port() && !strings.HasSuffix(u.Hostname(), ".")
}

// mostDecodings is the maximum number of times that a path may be encoded. Proxies and servers
// decode it once each.
const mostDecodings = 10

// readPath returns a path in the one way in which a server might read it: decoded as often as it
// is encoded, in lower case, without parameters (;a), empty names, and dots and blanks at the end
// of a name. certain is false if servers may read it in yet another way.
func readPath(escaped string) (path string, certain bool) {
	path = escaped
	for range mostDecodings {
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			break
		}
		path = decoded
	}
	certain = !strings.ContainsFunc(path, func(c rune) bool {
		return c <= ' ' || c >= unicode.MaxASCII || strings.ContainsRune("%?#", c)
	})
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(path), "/") {
		name, _, _ = strings.Cut(name, ";")
		if plain := strings.TrimRight(name, ". "); plain != "" {
			name = plain
		}
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return "/" + strings.Join(names, "/"), certain
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

// climbs reports whether a path, as readPath returns it, contains "." or ".." or a backslash,
// and so may lead somewhere else than it seems to.
func climbs(path string) bool {
	return strings.Contains(path, `\`) ||
		slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.Trim(name, ".") == "" && name != "" })
}
