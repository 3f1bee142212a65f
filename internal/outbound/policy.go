package outbound

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// Policy says which repositories a request may name.
type Policy struct {
	// Open is whether there are neither keys nor tokens, so that whoever asks is at
	// this machine: they may name any path but those of the server's own data, and git
	// logs in as they would themselves.
	Open bool
	// Private is whether hosts may have addresses that are not public, and transports
	// that are not encrypted.
	Private bool
	// Paths are the directories in which repositories may be named by a path where the
	// server is not open.
	Paths []string
	// Data is the server's own directory, of which no path may be named.
	Data string
}

// Fault says why a request may not name a repository; empty where it may. logins is
// whether its kind lets the server's logins be used for it: without them, ssh leads
// nowhere. The answer repeats nothing of the address but the host.
func (p Policy) Fault(address string, logins bool) string {
	r, err := ParseRepository(address)
	if err != nil {
		return err.Error()
	}
	switch r.Transport {
	case Path:
		return p.pathFault(r.Path)
	case HTTP:
		if !p.Private {
			return "found http, which is not encrypted; expected https (REPOSITORY_PRIVATE=true allows it)"
		}
	case SSH:
		if !p.Open && !logins {
			return fmt.Sprintf("ssh needs a login of the server's, and the kind does not say that it may be used; name %s in its workspace: credentials:, or use https", r.Host)
		}
	case HTTPS:
	}
	if !p.Private && isPrivateName(r.Host) {
		return r.Host + " is no public address; REPOSITORY_PRIVATE=true allows such"
	}
	return ""
}

// pathFault looks at where a path leads, symbolic links followed.
func (p Policy) pathFault(path string) string {
	if p.Open && !filepath.IsAbs(path) { // it leads from nowhere, which is told later
		return ""
	}
	where := resolved(path)
	switch {
	case p.Data != "" && inside(where, resolved(p.Data)):
		return "the server's own data is no repository"
	case p.Open:
		return ""
	case slices.ContainsFunc(p.Paths, func(dir string) bool { return inside(where, resolved(dir)) }):
		return ""
	}
	return "paths of the server may not be named here; REPOSITORY_PATHS says in which directories they may"
}

// resolved is an absolute path without symbolic links; as far as it is there.
func resolved(path string) string {
	path = filepath.Clean(path)
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}

func inside(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// isPrivateName reports whether a host is known not to be public before anything is
// resolved.
func isPrivateName(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return !isPublic(ip)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Covers reports whether a list of hosts, "github.com", or of parts of them,
// "github.com/org", names a repository. One with a port of its own is named with it.
// What is not encrypted is never named.
func Covers(hosts []string, address string) bool {
	r, err := ParseRepository(address)
	if err != nil || r.Transport != HTTPS && r.Transport != SSH {
		return false
	}
	where := r.Host
	if r.Port != ports[r.Transport] {
		where = r.Address()
	}
	return slices.ContainsFunc(hosts, func(named string) bool {
		host, path, _ := strings.Cut(named, "/")
		return strings.EqualFold(host, where) && inside(r.Path, "/"+path)
	})
}

// HostFault says what is wrong with an entry of such a list; empty where nothing is.
func HostFault(named string) string {
	r, err := ParseRepository("https://" + strings.TrimSuffix(named, "/") + "/repository")
	if err != nil || strings.Contains(named, "@") || r.Path == "/" {
		return `expected a host, "github.com", or a part of one, "github.com/org"`
	}
	return ""
}
