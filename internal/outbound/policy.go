package outbound

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Policy determines which repositories a request may name.
type Policy struct {
	// Open is true if no keys or tokens are required, so that callers are users of this
	// machine: they may name any path except the server's own data, and git logs in as they
	// would.
	Open bool
	// Private is true if hosts with addresses that are not public, and unencrypted
	// transports, are allowed.
	Private bool
	// Paths are directories: the repositories in them may be named by path if the server is
	// not open.
	Paths []string
	// Data is the server's own data directory; paths in it are never allowed.
	Data string
	// Local is true if the repositories that paths name are on this machine.
	Local bool
}

// Fault returns why a request may not name a repository; "" if it may. logins is true if
// the kind allows the server's credentials to be used for it; without them, ssh is not
// allowed. The message contains nothing of the address except the host.
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
			return fmt.Sprintf(
				"ssh uses the server's credentials, which the kind does not allow; add %s to credentials: of its workspace, or use https",
				r.Host,
			)
		}
	case HTTPS:
	}
	if !p.Private && isPrivate(r.Host) {
		return r.Host + " is not a public address; REPOSITORY_PRIVATE=true allows it"
	}
	return ""
}

// pathFault checks a path, and the places that its repository is kept in.
func (p Policy) pathFault(path string) string {
	if p.Open && !filepath.IsAbs(path) { // a relative path is rejected later
		return ""
	}
	if fault := p.realPathFault(resolved(path)); fault != "" {
		return fault
	}
	for _, where := range Directories(path) {
		if fault := p.realPathFault(where); fault != "" { // the caller has not named it
			return "the repository is a worktree or shares its objects: a part of it is " + where + "; " + fault
		}
	}
	return ""
}

// realPathFault checks a path without symbolic links.
func (p Policy) realPathFault(where string) string {
	switch {
	case p.Data != "" && inside(where, resolved(p.Data)):
		return "the server's own data is no repository"
	case p.Open:
		return ""
	case slices.ContainsFunc(p.Paths, func(dir string) bool { return inside(where, resolved(dir)) }):
		return ""
	}
	return "paths on the server are not allowed here; REPOSITORY_PATHS sets the directories in which they are"
}

// Missing returns why there is no repository at an address that Fault allows, as far as that can be seen
// without asking another machine; "" if there may be one.
func (p Policy) Missing(address string) string {
	r, err := ParseRepository(address)
	if err != nil || r.Transport != Path || !p.Local {
		return ""
	}
	path := resolved(r.Path)
	if _, _, found := gitDirectory(path); found || isBundle(path) {
		return ""
	}
	const expected = "; expected the path of a repository on the machine of the server, or the address of one"
	_, err = os.Stat(filepath.Join(path, ".git"))
	info, missing := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("the server cannot read %q; give its user access", path)
	case missing != nil:
		return fmt.Sprintf("%q does not exist%s", path, expected)
	case !info.IsDir():
		return fmt.Sprintf("%q is a file%s", path, expected)
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if exists(dir, ".git") && p.realPathFault(dir) == "" {
			return fmt.Sprintf("%q is a directory in the repository %q; name that one", path, dir)
		}
	}
	return fmt.Sprintf("%q is a directory without a repository%s", path, expected)
}

// resolved returns an absolute path with symbolic links followed in the part that exists.
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

// isPrivate reports whether a host is known not to be public even before it is resolved. The names of private
// networks are resolved: for ssh, one may be an alias.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return !isPublic(ip)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isPrivateName reports whether a name is one of a private network.
func isPrivateName(host string) bool {
	at := strings.LastIndexByte(host, '.')
	return at < 0 || slices.Contains(privateDomains, host[at+1:])
}

// privateDomains are the top-level domains that are reserved for private networks. Clouds serve their metadata
// under one of them.
var privateDomains = []string{"internal", "local", "localhost", "localdomain", "lan", "intranet", "corp", "home", "arpa"}

// Covers reports whether a list of hosts such as "github.com", or of parts of them such as
// "github.com/org", includes a repository. For a repository on a non-default port, the
// entry must contain the port. Unencrypted transports are never included.
func Covers(hosts []string, address string) bool {
	r, err := ParseRepository(address)
	if err != nil || r.Transport != HTTPS && r.Transport != SSH {
		return false
	}
	where := r.Host
	if r.Port != ports[r.Transport] {
		where = r.Address()
	}
	return slices.ContainsFunc(hosts, func(entry string) bool {
		host, path, _ := strings.Cut(entry, "/")
		return strings.EqualFold(host, where) && inside(r.Path, "/"+path)
	})
}

// HostFault describes what is wrong with an entry of such a list; "" if nothing is.
func HostFault(entry string) string {
	r, err := ParseRepository("https://" + strings.TrimSuffix(entry, "/") + "/repository")
	if err != nil || strings.Contains(entry, "@") || r.Path == "/" {
		return `expected a host, "github.com", or a part of one, "github.com/org"`
	}
	return ""
}
