package workspace

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/untrusted"
)

// entry is a file of a tree, or in an index.
type entry struct{ mode, id string }

// keepForms resets the files in an index, made from a tree, if their form alone has changed: attributes such as
// text and eol may demand another form than the tree has, for untouched files. Such a file gets
// the index's content too if it is written by the tree's attributes and read by the index's.
func (w *Workspace) keepForms(ctx context.Context, r job.Repository, g git, from string) error {
	attributes, err := g.run(ctx, "ls-files", "-z", "--", attributesFile, "*/"+attributesFile)
	if err != nil {
		return err
	}
	raw, err := g.run(
		ctx, "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", from,
	)
	if err != nil || attributes == "" && !strings.Contains(raw, attributesFile) {
		return err
	}
	before, after, paths := rewritten(raw)
	if len(paths) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(w.dir, "form-")
	if err != nil {
		return err
	}
	defer func() { _ = untrusted.Remove(dir) }()
	// Without other files, git takes the attributes from the index.
	plain := w.local(dir).with("GIT_DIR="+w.trustedRepo(r), "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+dir+".index")
	defer func() { _ = os.Remove(dir + ".index") }()
	list := strings.Join(paths, "\x00") + "\x00"
	if _, err := plain.run(ctx, "read-tree", from); err != nil {
		return err
	}
	if err := plain.read(ctx, list, "checkout-index", "-z", "--stdin"); err != nil {
		return err
	}
	tree, err := g.run(ctx, "write-tree")
	if err != nil {
		return err
	}
	if _, err := plain.run(ctx, "read-tree", strings.TrimSpace(tree)); err != nil {
		return err
	}
	if err := plain.read(ctx, list, "update-index", "-z", "--stdin"); err != nil {
		return err
	}
	forms, err := plain.entries(ctx)
	if err != nil {
		return err
	}
	var kept strings.Builder
	for _, name := range paths {
		if forms[name].id == after[name].id {
			kept.WriteString(before[name].mode + " " + before[name].id + "\t" + name + "\x00")
		}
	}
	return g.read(ctx, kept.String(), "update-index", "-z", "--index-info")
}

const attributesFile = ".gitattributes"

// rewritten returns the files that differ in content alone according to "git diff-index --raw -z".
func rewritten(raw string) (before, after map[string]entry, paths []string) {
	before, after = map[string]entry{}, map[string]entry{}
	fields := strings.Split(raw, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta, name := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(meta) < 5 || meta[4] != "M" || meta[0] != meta[1] || !strings.HasPrefix(meta[0], "100") ||
			path.Base(name) == attributesFile {
			continue
		}
		before[name], after[name] = entry{meta[0], meta[2]}, entry{meta[1], meta[3]}
		paths = append(paths, name)
	}
	return before, after, paths
}

// read runs git with an input.
func (g git) read(ctx context.Context, text string, args ...string) error {
	var out strings.Builder
	return g.do(ctx, strings.NewReader(text), &out, args...)
}

// entries returns the files of the index.
func (g git) entries(ctx context.Context) (map[string]entry, error) {
	text, err := g.run(ctx, "ls-files", "--stage", "-z")
	all := map[string]entry{}
	for line := range strings.SplitSeq(text, "\x00") {
		meta, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 {
			all[name] = entry{fields[0], fields[1]}
		}
	}
	return all, err
}

// links returns the directories in the index of which git stores only the id of a commit.
func (g git) links(ctx context.Context) ([]string, error) {
	all, err := g.entries(ctx)
	var names []string
	for name, e := range all {
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
		if err != nil {
			continue
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
