package approval

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"ringback/internal/lazy"
)

// matchAddress compares an address with "domain:example.com", "domain:*.example.com"
// (that domain and those below it) or a pattern for all of it.
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
	if u.User != nil { // a name in front of the host is there to deceive
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

// matchURL compares a whole address. What is allowed must match as it is written, host
// and rest each on their own; for what is denied, all that leads to the same place is
// the same.
func matchURL(pattern, address string, u *url.URL) extent {
	scheme, rest, _ := strings.Cut(pattern, "://")
	host, path, hasPath := strings.Cut(rest, "/")
	_, addressRest, _ := strings.Cut(address, "://")
	_, addressPath, _ := strings.Cut(addressRest, "/")
	base, below := strings.CutPrefix(strings.ToLower(host), "*.")
	sameHost := !strings.Contains(base, "*") && (strings.EqualFold(u.Host, base) || below && strings.HasSuffix(strings.ToLower(u.Host), "."+base))
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

// spellings are ways to write an address that lead to the same place, in small letters.
func spellings(u *url.URL) (all []string) {
	for _, scheme := range []string{"http", "https"} { // the CLI makes one of the other
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

// plainAddress reads an address of which every program makes the same; nil for one
// that a browser may read otherwise.
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

// plainHost is the one way to write a host; empty for one that programs read in
// several: numbers that are an address in disguise, percent signs, empty labels.
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

// climbs reports whether a path leads elsewhere than its beginning says.
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
