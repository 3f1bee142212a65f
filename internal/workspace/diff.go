package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/spelling"
)

// DefaultLines is the default number of diff lines shown for each repository.
const DefaultLines = 1000

// maxLine limits a shown line of a diff, in bytes.
const maxLine = 2000

// Diff returns the changes since the work began, committed or not, including untracked files. It
// shows at most maxLines of each repository; 0 means DefaultLines.
//
// trees identify exactly these contents: the git tree of each repository, by its name. They can be
// published, whatever is written to the workspace later.
func (w *Workspace) Diff(ctx context.Context, maxLines int) (all []job.DiffOutput, trees Trees, err error) {
	maxLines = cmp.Or(maxLines, DefaultLines)
	all, trees = make([]job.DiffOutput, 0, len(w.Repositories)), Trees{}
	for _, r := range w.Repositories {
		d, tree, err := w.diff(ctx, r, maxLines)
		if err != nil {
			return nil, nil, fmt.Errorf("repository %s: %w", r.Name, err)
		}
		all, trees[r.Name] = append(all, d), tree
	}
	return all, trees, nil
}

// Trees are the contents of repositories: git tree ids, by the name of the repository.
type Trees map[string]string

func (w *Workspace) diff(ctx context.Context, r job.Repository, maxLines int) (out job.DiffOutput, tree string, err error) {
	g, done, err := w.index(ctx, r)
	if err != nil {
		return out, "", err
	}
	defer done()
	if tree, err = g.run(ctx, "write-tree"); err != nil {
		return out, "", err
	}
	tree = strings.TrimSpace(tree)
	if out, err = w.shown(ctx, r, tree, maxLines); err != nil {
		return out, "", err
	}
	if err := warnOfFilters(ctx, g, out.Files); err != nil {
		return out, "", err
	}
	if out.LeftOut, err = leftOut(ctx, g); err != nil {
		return out, "", err
	}
	hidden, err := w.inLinks(ctx, r, g, out.Files)
	out.LeftOut = append(out.LeftOut, hidden...)
	return out, tree, err
}

// diffArgs returns git's arguments for the changes from one tree to another; usually from is
// baseRef, where the work began. All code that shows a change uses it, so that line numbers are the
// same everywhere.
func diffArgs(from, tree string, how ...string) []string {
	args := []string{
		"diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short",
		"--ignore-submodules=dirty", // whatever .gitmodules wants to ignore
	}
	return slices.Concat(args, how, []string{from, tree})
}

func filesBetween(ctx context.Context, g git, from, tree string) ([]*changed, error) {
	raw, err := g.run(ctx, diffArgs(from, tree, "--raw", "-z")...)
	if err != nil {
		return nil, err
	}
	files := parseRaw(raw)
	numbers, err := g.run(ctx, diffArgs(from, tree, "--numstat", "-z")...)
	countLines(files, numbers)
	return files, err
}

func (w *Workspace) shown(ctx context.Context, r job.Repository, tree string, maxLines int) (job.DiffOutput, error) {
	g := w.local(w.trustedRepo(r))
	files, err := filesBetween(ctx, g, baseRef, tree)
	if err != nil {
		return job.DiffOutput{}, err
	}
	p := &patches{files: files, from: 1, lines: maxLines, cut: maxLine, scan: true}
	args := diffArgs(baseRef, tree, "--patch")
	if err := p.readFrom(func(out io.Writer) error { return g.do(ctx, nil, out, args...) }); err != nil {
		return job.DiffOutput{}, err
	}
	out := job.DiffOutput{
		Repository: r.Name, Files: []job.FileDiff{}, Tree: tree, TotalLines: p.total, Truncated: p.next > 0 || p.shortened,
		NextFrom: p.next,
	}
	for _, f := range files {
		f.Suspicious = suspicion(f)
		out.Files = append(out.Files, f.FileDiff)
	}
	out.Summary = summary(out.Files)
	return out, nil
}

// leftOut returns the files in the workspace that are neither in the index nor ignored: they would
// not be pushed.
func leftOut(ctx context.Context, g git) ([]job.LeftOut, error) {
	untracked, err := g.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	tracked, err := g.run(ctx, "diff", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	files := slices.Concat(zeroEndedIn(untracked), zeroEndedIn(tracked))
	filters, err := g.filters(ctx, files)
	if err != nil {
		return nil, err
	}
	encodings, err := g.attribute(ctx, encodingOf, files)
	var list []job.LeftOut
	for _, name := range files {
		reason := "it could not be read"
		switch {
		case strings.HasSuffix(name, "/"):
			reason = "it is a git repository of its own, without a commit"
		case filters[name] != "":
			reason = fmt.Sprintf(
				"its attributes name the filter %s, which the server does not run: without it, git would store the file as it is",
				filters[name],
			)
		case encodings[name] != "":
			reason = "it could not be converted from the encoding that its attributes name, " + encodings[name]
		}
		list = append(list, job.LeftOut{Path: name, Reason: reason})
	}
	return list, err
}

// warnOfFilters adds a caution to files of a diff that a filter has stored.
func warnOfFilters(ctx context.Context, g git, files []job.FileDiff) error {
	var names []string
	for _, f := range files {
		if f.Status != job.FileDeleted {
			names = append(names, f.Path)
		}
	}
	filters, err := g.filters(ctx, names)
	for i, f := range files {
		if filter := filters[f.Path]; filter != "" && f.Suspicious == "" {
			files[i].Suspicious = "stored by the filter " + filter + ": what that keeps elsewhere is not pushed"
		}
	}
	return err
}

func summary(files []job.FileDiff) string {
	additions, deletions := 0, 0
	for _, f := range files {
		additions, deletions = additions+f.Additions, deletions+f.Deletions
	}
	return fmt.Sprintf("%s changed, +%d, -%d", spelling.Count(len(files), "file"), additions, deletions)
}
