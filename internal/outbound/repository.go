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

	"ringback/internal/text/lazy"
)

// Transport is the protocol of a repository's address.
type Transport string

// The transports. Path is a directory of this machine.
const (
	Path  Transport = "path"
	HTTPS Transport = "https"
	HTTP  Transport = "http"
	SSH   Transport = "ssh"
)

// Repository is the parsed address of a repository.
type Repository struct {
	Transport Transport
	// Host is in lower case, without brackets; empty for a Path.
	Host string
	// Port is the port of the address, or the transport's default.
	Port int
	// Path is the decoded path of the URL, or the directory.
	Path string
}

// Address returns host and port for dialing.
func (r Repository) Address() string { return net.JoinHostPort(r.Host, strconv.Itoa(r.Port)) }

var ports = map[Transport]int{HTTPS: 443, HTTP: 80, SSH: 22}

// Only syntax that git, curl, ssh and we parse in the same way is accepted.
var (
	schemed   = lazy.Regexp(`^([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?$`)
	authority = lazy.Regexp(`^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$`)
	short     = lazy.Regexp(`^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*):([^:/-].*|/.*)$`)
	goodPath  = lazy.Regexp(`^[A-Za-z0-9._~/%+@=,-]+$`)
	goodPlain = lazy.Regexp(`^[A-Za-z0-9._~/+@=, -]+$`)
)

// The errors of ParseRepository do not contain the address, which may contain a secret.
var (
	errUnreadable = errors.New("expected https://host/path, user@host:path, ssh://user@host/path or an absolute path")
	errPassword   = errors.New("holds a user name or a password; leave it out: it would be kept with the job")
	errScheme     = errors.New(
		"found a scheme other than https and ssh; expected https://host/path, user@host:path or an absolute path",
	)
	errHost = errors.New("the host is not written as a plain name or address")
	errPath = errors.New("the path may hold letters, digits, . _ ~ + @ = , - and escapes of such, and it may not lead upward")
)

// ParseRepository parses the address of a repository in a request: an https, http or ssh
// URL, the short form of ssh, user@host:path, or a path. An ambiguous address is an error;
// its message does not contain the address.
func ParseRepository(text string) (Repository, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Repository{}, errUnreadable
	}
	if m := schemed().FindStringSubmatch(text); m != nil {
		return parseURL(m[1], m[2], m[3])
	}
	before, _, _ := strings.Cut(text, "/")
	if !strings.Contains(before, ":") { // as in git: a colon before the first slash makes it a remote address
		return Repository{Transport: Path, Path: text}, nil
	}
	m := short().FindStringSubmatch(text)
	if m == nil || ports[Transport(m[2])] != 0 { // https:host does not mean a host named https
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

// plainHost returns a host in lower case; false for an address in a form that not every
// program reads as the same one, such as 0x7f.1.
func plainHost(host string) (string, bool) {
	host = strings.ToLower(host)
	if inner, ok := strings.CutPrefix(host, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return ip.String(), err == nil && ip.Is6() && ip.String()+"]" == inner
	}
	name, isHost := canonical(host)
	return host, isHost && name == host // not with a dot at the end
}

// plainPath returns the decoded path of a URL; false if it contains ".." or characters that
// are not allowed.
func plainPath(text string) (string, bool) {
	decoded, err := url.PathUnescape(text)
	if err != nil || !goodPath().MatchString(text) || !goodPlain().MatchString(decoded) {
		return "", false
	}
	return path.Clean("/" + decoded), !slices.Contains(strings.Split(decoded, "/"), "..")
}
