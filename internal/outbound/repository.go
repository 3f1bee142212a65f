package outbound

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/lazy"
)

// Transport is how a repository is reached.
type Transport string

// The transports. Path is a directory of this machine.
const (
	Path  Transport = "path"
	HTTPS Transport = "https"
	HTTP  Transport = "http"
	SSH   Transport = "ssh"
)

// Repository is where a repository is, as a request names it.
type Repository struct {
	Transport Transport
	// Host is in lower case, without brackets; empty for a Path.
	Host string
	// Port is the transport's own where the address has none.
	Port int
	// Path is what comes behind the host, decoded, or the directory.
	Path string
}

// Address is host and port, as they are dialled.
func (r Repository) Address() string { return net.JoinHostPort(r.Host, strconv.Itoa(r.Port)) }

var ports = map[Transport]int{HTTPS: 443, HTTP: 80, SSH: 22}

// Only what git, curl, ssh and we read in the same way is read at all.
var (
	schemed   = lazy.Regexp(`^([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?$`)
	authority = lazy.Regexp(`^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$`)
	short     = lazy.Regexp(`^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*):([^:/-].*|/.*)$`)
	goodPath  = lazy.Regexp(`^[A-Za-z0-9._~/%+@=,-]+$`)
	goodPlain = lazy.Regexp(`^[A-Za-z0-9._~/+@=, -]+$`)
)

// The errors of ParseRepository repeat nothing of the address, which may hold a secret.
var (
	errUnreadable = errors.New("expected https://host/path, user@host:path, ssh://user@host/path or an absolute path")
	errPassword   = errors.New("holds a user name or a password; leave it out: it would be kept with the job")
	errScheme     = errors.New("found a scheme other than https and ssh; expected https://host/path, user@host:path or an absolute path")
	errHost       = errors.New("the host is not written as a plain name or address")
	errPath       = errors.New("the path may hold letters, digits, . _ ~ + @ = , - and escapes of such, and it may not lead upward")
)

// ParseRepository reads an address of a repository that came with a request: an https or
// ssh URL, the short form of the latter, user@host:path, or a path. Whatever could be read in
// two ways is an error, which says what is wrong without repeating it.
func ParseRepository(text string) (Repository, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Repository{}, errUnreadable
	}
	if m := schemed().FindStringSubmatch(text); m != nil {
		return parseURL(m[1], m[2], m[3])
	}
	before, _, _ := strings.Cut(text, "/")
	if !strings.Contains(before, ":") { // as git: a colon before the first slash makes an address
		return Repository{Transport: Path, Path: text}, nil
	}
	m := short().FindStringSubmatch(text)
	if m == nil || ports[Transport(m[2])] != 0 { // of https:host, nobody means a host https
		return Repository{}, errUnreadable
	}
	return remote(SSH, m[2], "", m[3])
}

func parseURL(scheme, where, path string) (Repository, error) {
	transport := Transport(scheme)
	if transport == "file" && where == "" && path != "" && !strings.Contains(path, "%") {
		return Repository{Transport: Path, Path: path}, nil
	}
	if ports[transport] == 0 {
		return Repository{}, errScheme
	}
	if userinfo, _, found := strings.Cut(where, "@"); found && (transport != SSH || strings.Contains(userinfo, ":")) {
		return Repository{}, errPassword
	}
	m := authority().FindStringSubmatch(where)
	if m == nil {
		return Repository{}, errHost
	}
	return remote(transport, m[2], m[3], path)
}

func remote(transport Transport, host, port, path string) (Repository, error) {
	r := Repository{Transport: transport, Port: ports[transport]}
	var ok bool
	if r.Host, ok = plainHost(host); !ok {
		return r, errHost
	}
	if port != "" {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return r, errHost
		}
		r.Port = n
	}
	if r.Path, ok = plainPath(path); !ok {
		return r, errPath
	}
	return r, nil
}

// plainHost is a host in lower case; false where it is an address written in a way that
// not every program takes for the same one, such as 0x7f.1.
func plainHost(host string) (string, bool) {
	host = strings.ToLower(host)
	if inner, ok := strings.CutPrefix(host, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return ip.String(), err == nil && ip.Is6() && ip.String()+"]" == inner
	}
	labels := strings.Split(host, ".")
	if slices.Contains(labels, "") { // two dots, or one at the end
		return host, false
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		ip, err := netip.ParseAddr(host)
		return host, err == nil && ip.String() == host
	}
	return host, true
}

// plainPath is a path of a URL, decoded; false where it leads upward, or holds what is
// better not handed on.
func plainPath(text string) (string, bool) {
	decoded, err := url.PathUnescape(text)
	if err != nil || !goodPath().MatchString(text) || !goodPlain().MatchString(decoded) {
		return "", false
	}
	return path.Clean("/" + decoded), !slices.Contains(strings.Split(decoded, "/"), "..")
}
