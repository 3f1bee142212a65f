package workspace

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

var (
	goodName   = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	badName    = lazy.Regexp(`[^A-Za-z0-9._-]+`)
	goodBranch = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
	transport  = lazy.Regexp(`^[a-z0-9+.-]+::`)
)

// Named validates repositories and gives each a unique name.
func Named(repositories []job.Repository) ([]job.Repository, error) {
	named := make([]job.Repository, len(repositories))
	taken := map[string]bool{}
	for i, r := range repositories {
		if err := check(r); err != nil {
			return nil, fmt.Errorf("repository %d: %w", i+1, err)
		}
		if r.Name == "" {
			r.Name = nameOf(r.URL)
		}
		base := r.Name
		for n := 2; taken[strings.ToLower(r.Name)]; n++ {
			r.Name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(r.Name)] = true
		named[i] = r
	}
	return named, nil
}

func check(r job.Repository) error {
	switch {
	case r.URL == "" || strings.HasPrefix(r.URL, "-") || strings.ContainsAny(r.URL, "\x00\n\r"):
		return errors.New("url: expected an address or a path")
	case !strings.Contains(r.URL, "://") && !scpLike().MatchString(r.URL) && !filepath.IsAbs(r.URL):
		return fmt.Errorf("url: found %q, a path that leads from nowhere; expected an address or an absolute path", r.URL)
	case transport().MatchString(r.URL):
		return errors.New("url: this kind of address is not allowed")
	case r.Branch != "" &&
		(!goodBranch().MatchString(r.Branch) || strings.Contains(r.Branch, "..") || strings.HasSuffix(r.Branch, ".lock")):
		return fmt.Errorf("branch: found %q; expected the name of a branch", r.Branch)
	case r.Name != "" && !goodName().MatchString(r.Name):
		return fmt.Errorf("name: found %q; expected letters, digits, . _ and -", r.Name)
	case r.Depth < 0:
		return fmt.Errorf("depth: found %d; expected 0 (everything) or more", r.Depth)
	}
	return nil
}

// nameOf returns the last part of an address as a directory name.
func nameOf(address string) string {
	address = strings.TrimRight(address, "/")
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.Contains(address[i:], "/") {
		address = address[i+1:]
	}
	name := strings.Trim(badName().ReplaceAllString(strings.TrimSuffix(path.Base(address), ".git"), "-"), ".-")
	if !goodName().MatchString(name) {
		return "repository"
	}
	return name
}
