package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/gz"
	"ringback/internal/text/spelling"
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
				"its attributes require the filter %s, which the server does not run: without it, git would store the file unfiltered",
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

// Page selects a part of a captured change.
type Page struct {
	// Repository is the name of the only repository to show; empty means all.
	Repository string
	// File is the path of the only file to show, with or without its repository as a prefix; empty
	// means all files.
	File string
	// From is the first line, counted from 1, and Lines the number of lines, of each repository or
	// of the file.
	From, Lines int
	// Context is the number of unchanged lines around each change; 0 means git's default.
	Context int
	// Since are the trees to compare with, by repository; empty means the beginning of the work.
	Since Trees
}

const pageBytes = 1 << 20

var (
	// ErrNoFile is returned if a change has no such file or repository.
	ErrNoFile = errors.New("the change has no such file")
	// ErrElsewhere is returned if a change can be read neither from a workspace on this machine nor
	// from its snapshot.
	ErrElsewhere = errors.New("the workspace is not on this machine")
)

// Page returns a part of a captured change. It reads from git's object store, so it shows what
// would be pushed, whatever the workspace contains now. If the workspace is not on this machine, it
// reads the snapshot. Lines are never cut; binary files have none. Errors: ErrNoFile, ErrElsewhere.
func (w *Workspace) Page(ctx context.Context, captured []job.DiffOutput, s Snapshot, page Page) ([]job.DiffOutput, error) {
	pages := []job.DiffOutput{}
	for _, d := range captured {
		if page.Repository != "" && d.Repository != page.Repository {
			continue
		}
		patch, err := w.patchOf(ctx, &d, s, page)
		if err != nil {
			return nil, err
		}
		if page.File != "" && !hasFile(d, page.File) {
			continue
		}
		shown, err := readPage(d, page, patch)
		if err != nil {
			return nil, err
		}
		pages = append(pages, shown)
	}
	if len(pages) == 0 && (page.File != "" || page.Repository != "") {
		return nil, ErrNoFile
	}
	return pages, nil
}

func hasFile(d job.DiffOutput, path string) bool {
	return slices.ContainsFunc(d.Files, func(f job.FileDiff) bool { return isFile(d.Repository, f, path) })
}

func isFile(repository string, f job.FileDiff, path string) bool {
	return f.Path == path || repository+"/"+f.Path == path || f.OldPath == path
}

// patchOf returns a function that writes the patch of a captured change. If the page compares with
// another tree, d is replaced by that comparison.
func (w *Workspace) patchOf(ctx context.Context, d *job.DiffOutput, s Snapshot, page Page) (func(io.Writer) error, error) {
	g := w.local(w.trustedRepo(job.Repository{Name: d.Repository}))
	from := cmp.Or(page.Since[d.Repository], baseRef)
	if !w.IsGone() && g.has(ctx, d.Tree) && g.has(ctx, from) {
		how := []string{"--patch"}
		if page.Context > 0 {
			how = append(how, "--unified="+strconv.Itoa(page.Context))
			d.TotalLines = 0 // it was counted with the default
		}
		if from != baseRef {
			if err := compare(ctx, g, d, from); err != nil {
				return nil, err
			}
		}
		return func(out io.Writer) error { return g.do(ctx, nil, out, diffArgs(from, d.Tree, how...)...) }, nil
	}
	if from != baseRef || page.Context > 0 {
		return nil, fmt.Errorf("%w, and the store keeps only what was captured", ErrElsewhere)
	}
	for _, state := range s {
		if state.Repository == d.Repository && state.Tree == d.Tree {
			return func(out io.Writer) error {
				patch, err := gz.Unpack(state.Patch, maxUnpacked)
				if err == nil {
					_, err = out.Write(patch)
				}
				return err
			}, nil
		}
	}
	return nil, fmt.Errorf("%w, and the change too large to be kept in the store", ErrElsewhere)
}

// has reports whether a repository contains a tree, or an object that leads to one.
func (g git) has(ctx context.Context, tree string) bool {
	id, _ := g.resolve(ctx, tree+"^{tree}") // else the copy in the store is shown
	return id != ""
}

// compare replaces a change by the comparison with another tree.
func compare(ctx context.Context, g git, d *job.DiffOutput, from string) error {
	files, err := filesBetween(ctx, g, from, d.Tree)
	if err != nil {
		return err
	}
	d.Files, d.TotalLines = []job.FileDiff{}, 0
	for _, f := range files {
		d.Files = append(d.Files, f.FileDiff)
	}
	d.Summary = summary(d.Files)
	return nil
}

func readPage(d job.DiffOutput, page Page, patch func(io.Writer) error) (job.DiffOutput, error) {
	files := make([]*changed, len(d.Files))
	for i, f := range d.Files {
		f.Diff = ""
		files[i] = &changed{FileDiff: f, sections: sectionsOf(f)}
	}
	p := &patches{files: files, from: page.From, lines: page.Lines, bytes: pageBytes}
	if page.File == "" {
		p.known = d.TotalLines
	} else {
		p.wanted = func(f *changed) bool { return isFile(d.Repository, f.FileDiff, page.File) }
	}
	if err := p.readFrom(patch); err != nil {
		return d, err
	}
	d.Files, d.From, d.NextFrom, d.TotalLines = []job.FileDiff{}, page.From, p.next, p.total
	d.Truncated = page.From > 1 || p.next > 0
	for _, f := range files {
		if f.Diff != "" || f.Binary && page.From == 1 && (p.wanted == nil || p.wanted(f)) {
			d.Files = append(d.Files, f.FileDiff)
		}
	}
	return d, nil
}
