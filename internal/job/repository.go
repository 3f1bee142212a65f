package job

import (
	"fmt"
	"path/filepath"
	"strings"

	"ringback/internal/text/lazy"
)

var (
	repositoryName = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	scpLike        = lazy.Regexp(`^(?:[^@/:]+@)?([^/:]+):([^/].*)$`)
	transport      = lazy.Regexp(`^[a-z0-9+.-]+::`)
)

// Fault returns what is wrong with a repository, in a kind or a request, and the field; "" if nothing is.
func (r Repository) Fault() (field, fault string) {
	switch {
	case r.URL == "" || strings.HasPrefix(r.URL, "-") || strings.ContainsAny(r.URL, "\x00\n\r"):
		return "url", "expected an address or a path"
	case !strings.Contains(r.URL, "://") && !scpLike().MatchString(r.URL) && !filepath.IsAbs(r.URL):
		return "url", fmt.Sprintf("found %q, a relative path; expected an address or an absolute path", r.URL)
	case transport().MatchString(r.URL):
		return "url", "this kind of address is not allowed"
	case r.Branch != "" && !isBranch(r.Branch):
		return "branch", fmt.Sprintf("found %q; expected the name of a branch or tag, as git check-ref-format accepts it; leave it out for the default branch", r.Branch)
	case r.Name != "" && !IsRepositoryName(r.Name):
		return "name", fmt.Sprintf("found %q; expected letters, digits, . _ and -", r.Name)
	case r.Depth < 0:
		return "depth", fmt.Sprintf("found %d; expected 0 (everything) or more", r.Depth)
	}
	return "", ""
}

// IsRepositoryName reports whether a repository's directory may have a name.
func IsRepositoryName(name string) bool { return repositoryName().MatchString(name) }

// isBranch reports whether git check-ref-format --branch accepts a name.
func isBranch(name string) bool {
	if name[0] == '-' || name == "HEAD" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) })
}
