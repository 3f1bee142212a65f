package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/job"
	"ringback/internal/lazy"
)

var badName = lazy.Regexp(`[^A-Za-z0-9._-]+`)

// Named validates repositories and gives each a unique name.
func Named(repositories []job.Repository) ([]job.Repository, error) {
	named := make([]job.Repository, len(repositories))
	taken := map[string]bool{}
	for i, r := range repositories {
		if field, fault := r.Fault(); fault != "" {
			return nil, fmt.Errorf("repository %d: %s: %s", i+1, field, fault)
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

// Unusable is the reason why no work can begin in a repository, until it is changed: another attempt
// finds the same.
type Unusable struct{ reason string }

func (u *Unusable) Error() string { return u.reason }

const head = "HEAD"

// beginning returns the ref at which the work on a repository begins, by its full name, or HEAD, and its
// commit. As for git clone, a branch goes before a tag of the same name. g is in a clone of the repository.
// The names are compared exactly: git's own rules would find more, such as any commit.
func beginning(ctx context.Context, g git, r job.Repository) (ref, commit string, err error) {
	named := []string{branches + r.Branch, tags + r.Branch, r.Branch}
	if r.Branch == "" {
		named = []string{head}
	}
	text, err := g.run(ctx, "show-ref", "--head")
	if failed, ok := errors.AsType[*gitError](err); err != nil && (!ok || failed.code != 1) { // 1: it has none
		return "", "", err
	}
	ids := map[string]string{}
	for line := range strings.Lines(text) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ids[name] = id
	}
	for _, ref := range named {
		if id := ids[ref]; id != "" {
			commit, err := g.run(ctx, "rev-parse", "--verify", id+"^{commit}")
			return ref, strings.TrimSpace(commit), err
		}
	}
	return "", "", notThere(r.Branch, slices.Sorted(maps.Keys(ids)))
}

// notThere describes why a repository with these refs has none to begin at.
func notThere(branch string, refs []string) error {
	var found []string
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref, branches); ok {
			found = append(found, name)
		}
	}
	others := "its branches are " + excerpt.Head(strings.Join(found, ", "), 300)
	switch {
	case len(found) == 0 && branch == "":
		return &Unusable{"it is empty: push a first commit to it"}
	case len(found) == 0:
		return &Unusable{fmt.Sprintf("it has no branch yet, so none of the name %s: push a first commit to it", branch)}
	case branch == "":
		return &Unusable{"its default branch does not exist (its HEAD leads nowhere): name a branch; " + others}
	}
	return &Unusable{fmt.Sprintf("it has no branch or tag of the name %s (any more): name another one; %s", branch, others)}
}

// nameOf returns the last part of an address as a directory name.
func nameOf(address string) string {
	address = strings.TrimRight(address, "/")
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.Contains(address[i:], "/") {
		address = address[i+1:]
	}
	name := strings.Trim(badName().ReplaceAllString(strings.TrimSuffix(path.Base(address), ".git"), "-"), ".-")
	if !job.IsRepositoryName(name) {
		return "repository"
	}
	return name
}
