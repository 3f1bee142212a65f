package workspace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ringback/internal/job"
)

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
	if w.Exists() && g.has(ctx, d.Tree) && g.has(ctx, from) {
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
				patch, err := gzip.NewReader(bytes.NewReader(state.Patch))
				if err == nil {
					_, err = io.Copy(out, patch) //nolint:gosec // git made it, and it is read line by line
				}
				return err
			}, nil
		}
	}
	return nil, fmt.Errorf("%w, and the change too large to be kept in the store", ErrElsewhere)
}

// has reports whether a repository contains a tree, or an object that leads to one.
func (g git) has(ctx context.Context, tree string) bool {
	_, err := g.run(ctx, "cat-file", "-e", tree+"^{tree}")
	return err == nil
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
