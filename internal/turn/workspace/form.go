package workspace

import (
	"context"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/sandbox/untrusted"
)

// entry is a file of a tree, or in an index.
type entry struct{ mode, id string }

func (e entry) isFile() bool { return strings.HasPrefix(e.mode, "100") }

// rewrite is a difference between a tree and an index.
type rewrite struct {
	path          string
	before, after entry
}

// isOfContent reports whether it changes the content of a file alone, and not the attributes.
func (c rewrite) isOfContent() bool {
	return c.before.isFile() && c.before.mode == c.after.mode && !isAttributes(c.path)
}

// rewrites returns the differences between a tree and an index made from it.
func (g git) rewrites(ctx context.Context, from string) (list []rewrite, err error) {
	raw, err := g.run(
		ctx, "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", from,
	)
	for pair := range slices.Chunk(strings.Split(raw, "\x00"), 2) {
		meta := strings.Fields(strings.TrimPrefix(pair[0], ":"))
		if len(pair) == 2 && len(meta) == 5 {
			list = append(list, rewrite{pair[1], entry{meta[0], meta[2]}, entry{meta[1], meta[3]}})
		}
	}
	return list, err
}

func pathsOf(list []rewrite) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.path
	}
	return names
}

// keepForms resets the files in an index, made from a tree, if their form alone has changed, and returns the
// other changes. Attributes such as text and eol may demand another form than the tree has, for untouched files.
// Such a file gets the index's content too if it is written by the tree's attributes and read by the index's.
func (w *Workspace) keepForms(
	ctx context.Context, r job.Repository, g git, from string, changes []rewrite,
) (others []rewrite, err error) {
	var files []string
	for _, c := range changes {
		if c.isOfContent() {
			files = append(files, c.path)
		}
	}
	if len(files) == 0 {
		return changes, nil
	}
	forms, err := w.formsOf(ctx, r, g, from, files)
	if err != nil {
		return nil, err
	}
	var kept []rewrite
	for _, c := range changes {
		if c.isOfContent() && forms[c.path].id == c.after.id {
			kept = append(kept, rewrite{path: c.path, after: c.before})
		} else {
			others = append(others, c)
		}
	}
	return others, g.keep(ctx, kept)
}

// formsOf returns files as they are in a tree, in the form that an index made from it demands; without those
// that git cannot bring into that form.
func (w *Workspace) formsOf(
	ctx context.Context, r job.Repository, g git, from string, files []string,
) (map[string]entry, error) {
	dir, err := os.MkdirTemp(w.dir, "form-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = untrusted.Remove(dir) }()
	// Without other files, git takes the attributes from the index.
	plain := w.local(dir).with("GIT_DIR="+w.trustedRepo(r), "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+dir+".index")
	defer func() { _ = os.Remove(dir + ".index") }()
	if _, err := plain.run(ctx, "read-tree", from); err != nil {
		return nil, err
	}
	if err := plain.read(ctx, zeroEnded(files), "checkout-index", "-z", "--stdin"); err != nil {
		return nil, err
	}
	tree, err := g.run(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	if _, err := plain.run(ctx, "read-tree", tree); err != nil {
		return nil, err
	}
	omitted, err := plain.addConvertible(ctx, files)
	if err != nil {
		return nil, err
	}
	text, err := plain.run(ctx, "ls-files", "--stage", "-z")
	forms := parseEntries(text, 1)
	for _, name := range omitted {
		delete(forms, name)
	}
	return forms, err
}

func (g git) read(ctx context.Context, text string, args ...string) error {
	return g.do(ctx, strings.NewReader(text), io.Discard, args...)
}

// parseEntries parses lines of git that begin with the mode of a file, and have its id in another field.
func parseEntries(text string, id int) map[string]entry {
	all := map[string]entry{}
	for line := range strings.SplitSeq(text, "\x00") {
		meta, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 {
			all[name] = entry{fields[0], fields[id]}
		}
	}
	return all
}

// links returns the directories in the index of which git stores only the id of a commit.
func (g git) links(ctx context.Context) ([]string, error) {
	text, err := g.run(ctx, "ls-files", "--stage", "-z")
	var names []string
	for name, e := range parseEntries(text, 1) {
		if e.mode == link {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// maxInLink limits how many files in a submodule's directory are looked at.
const maxInLink = 100

// inLinks returns the files in the directories of submodules that are not among the changed ones: git never
// looks there.
func (w *Workspace) inLinks(ctx context.Context, r job.Repository, g git, changed []job.FileDiff) ([]job.LeftOut, error) {
	names, err := g.links(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	root, err := untrusted.Open(w.worktree(r))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var list []job.LeftOut
	for _, name := range names {
		if slices.ContainsFunc(changed, func(f job.FileDiff) bool { return f.Path == name }) {
			continue // it is shown that its files are not pushed
		}
		if dir, err := root.Dir(name); err == nil && has(dir, ".git") {
			list = append(list, job.LeftOut{Path: name + "/", Reason: "it is a submodule: only the id of its commit is pushed, none of its files"})
			continue
		}
		for _, file := range filesBelow(root, name) {
			list = append(list, job.LeftOut{Path: file, Reason: "it is in the directory of a submodule: only the id of a commit is pushed for that"})
		}
	}
	return list, nil
}

// has reports whether a directory has an entry, and closes it.
func has(dir untrusted.Dir, name string) bool {
	defer dir.Close()
	_, err := dir.Entry(name)
	return err == nil
}

// filesBelow returns the files below a directory, and the directory at the end if there are more.
func filesBelow(root untrusted.Dir, dir string) (files []string) {
	looked := 0
	for dirs := []string{dir}; len(dirs) > 0; dirs = dirs[1:] {
		below, err := root.Dir(dirs[0])
		if untrusted.IsJobs(err) {
			continue
		}
		if err != nil {
			return append(files, dir+"/")
		}
		for base, err := range below.Names() {
			if looked++; err != nil || looked > maxInLink {
				below.Close()
				return append(files, dir+"/")
			}
			name := path.Join(dirs[0], base)
			if e, err := below.Entry(base); err == nil && e.IsDir() {
				dirs = append(dirs, name)
			} else {
				files = append(files, name)
			}
		}
		below.Close()
	}
	return files
}
