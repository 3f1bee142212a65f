package workspace

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// Attributes decide in which form git stores a file. Git itself converts line ends and encodings. A filter,
// such as that of Git LFS or git-crypt, is a program that the repository chooses, so the server runs none: git
// would store the file as it is, a large file in place of its pointer, or a secret in place of its cipher text.
const (
	attributesFile = ".gitattributes"
	filterOf       = "filter"
	encodingOf     = "working-tree-encoding"
	lfs            = "lfs"
)

// pointer matches what the filter of Git LFS stores of a file, which is never larger than maxPointer.
var pointer = lazy.Regexp(
	`^version https://git-lfs\.github\.com/spec/v1\n(ext-\d-\S+ sha256:[0-9a-f]{64}\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n$`,
)

const maxPointer = 1024

// attribute returns the values of an attribute, by file, without those of files for which it is only set or
// unset.
func (g git) attribute(ctx context.Context, name string, files []string, options ...string) (map[string]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var out strings.Builder
	args := slices.Concat([]string{"check-attr", "-z", "--stdin"}, options, []string{name})
	err := g.do(ctx, strings.NewReader(zeroEnded(files)), &out, args...)
	values := map[string]string{}
	for triple := range slices.Chunk(strings.Split(out.String(), "\x00"), 3) {
		if len(triple) < 3 || slices.Contains([]string{"unspecified", "unset", "set"}, triple[2]) {
			continue
		}
		values[triple[0]] = triple[2]
		if !job.IsRepositoryName(triple[2]) { // it is shown to people
			values[triple[0]] = "of an unusual name"
		}
	}
	return values, err
}

// filters returns the filter of each file that has one according to the index.
func (g git) filters(ctx context.Context, files []string) (map[string]string, error) {
	files = slices.DeleteFunc(slices.Clone(files), isAttributes) // git reads them as they are stored
	return g.attribute(ctx, filterOf, files, "--cached")
}

// zeroEnded returns names in the form that git reads with -z, and zeroEndedIn reads them.
func zeroEnded(names []string) string { return strings.Join(append(names, ""), "\x00") }

func zeroEndedIn(text string) []string {
	names := strings.Split(text, "\x00")
	return names[:len(names)-1]
}

// add puts the files of the worktree into the index. Those that cannot be read, or converted from the encoding
// that their attributes name, are omitted, see leftOut.
func (g git) add(ctx context.Context) error {
	_, err := g.run(ctx, "add", "--all", "--ignore-errors", ".")
	if failed, ok := errors.AsType[*gitError](err); !ok || !failed.unconverted {
		return tolerated(err)
	}
	candidates, err := g.run(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	encoded, err := g.attribute(ctx, encodingOf, zeroEndedIn(candidates))
	if err != nil {
		return err
	}
	files := slices.Sorted(maps.Keys(encoded))
	all := []string{"."}
	for _, name := range files {
		all = append(all, ":(exclude,top,literal)"+name)
	}
	if err := g.addOnly(ctx, all...); err != nil {
		return err
	}
	_, err = g.addConvertible(ctx, files)
	return err
}

// addOnly adds what the path specifications name.
func (g git) addOnly(ctx context.Context, specs ...string) error {
	return tolerated(g.read(
		ctx, zeroEnded(specs), "add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul",
	))
}

// maxUnconverted limits how many files that git cannot convert are found one by one.
const maxUnconverted = 100

// addConvertible adds files, and returns those that git cannot convert from their encoding; if there are many,
// perhaps with some that it can.
func (g git) addConvertible(ctx context.Context, files []string) (omitted []string, err error) {
	for parts := [][]string{files}; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		if len(part) == 0 {
			continue
		}
		var specs []string
		for _, name := range part {
			specs = append(specs, ":(top,literal)"+name)
		}
		err := g.addOnly(ctx, specs...)
		failed, ok := errors.AsType[*gitError](err)
		switch {
		case err != nil && (!ok || !failed.unconverted):
			return nil, err
		case err != nil && (len(part) == 1 || len(omitted) >= maxUnconverted):
			omitted = append(omitted, part...)
		case err != nil:
			parts = append(parts, part[:len(part)/2], part[len(part)/2:])
		}
	}
	return omitted, nil
}

// tolerated returns the error of "git add", unless it is only about files that could not be read.
func tolerated(err error) error {
	failed, ok := errors.AsType[*gitError](err)
	if ok && !failed.incomplete && (failed.code == 1 || strings.Contains(failed.output, "adding files failed")) {
		return nil
	}
	return err
}

// keepAsDemanded resets files in an index, made from a tree, that are no change, or would not be stored as their
// attributes demand.
func (w *Workspace) keepAsDemanded(ctx context.Context, r job.Repository, g git, from string) error {
	changes, err := g.rewrites(ctx, from)
	if err != nil {
		return err
	}
	attributes, err := g.run(ctx, "ls-files", "-z", "--", attributesFile, "*/"+attributesFile)
	if err != nil || attributes == "" && !slices.ContainsFunc(changes, func(c rewrite) bool { return isAttributes(c.path) }) {
		return err
	}
	changes, err = w.keepForms(ctx, r, g, from, changes)
	if err != nil {
		return err
	}
	return g.keepStored(ctx, from, changes)
}

// keep puts entries into an index in place of what was read from these files, which counts as no change.
func (g git) keep(ctx context.Context, files []rewrite) error {
	var index strings.Builder
	for _, c := range files {
		fmt.Fprintf(&index, "%s %s\t%s\x00", c.after.mode, c.after.id, c.path)
	}
	if err := g.read(ctx, index.String(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	return g.read(ctx, zeroEnded(pathsOf(files)), "update-index", "--assume-unchanged", "-z", "--stdin")
}

func isAttributes(file string) bool { return path.Base(file) == attributesFile }

// keepStored resets the changed files in an index to the tree that it was made from if their attributes name a
// filter, unless they have a form that is stored there, or are a pointer of Git LFS. A file of Git LFS whose
// pointer is stored there was only downloaded: it becomes that pointer.
func (g git) keepStored(ctx context.Context, from string, changes []rewrite) error {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c rewrite) bool { return !c.after.isFile() })
	filters, err := g.filters(ctx, pathsOf(changes))
	if err != nil || len(filters) == 0 {
		return err
	}
	stored, err := g.storedIn(ctx, from)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c rewrite) bool {
		_, same := stored[c.after.id]
		return same || filters[c.path] == ""
	})
	contents, err := g.contents(ctx, changes)
	if err != nil {
		return err
	}
	ids := map[string]string{} // of what is stored, by its text
	for id, text := range stored {
		ids[text] = id
	}
	var unchanged []rewrite
	var reset strings.Builder
	for _, c := range changes {
		now := contents[c.after.id]
		id := ids[now.pointer()]
		switch {
		case filters[c.path] == lfs && pointer().MatchString(now.text):
		case filters[c.path] == lfs && id != "":
			unchanged = append(unchanged, rewrite{c.path, c.before, entry{c.after.mode, id}})
		default:
			fmt.Fprintf(&reset, "%s %s\t%s\x00", c.before.mode, c.before.id, c.path)
		}
	}
	return errors.Join(g.read(ctx, reset.String(), "update-index", "-z", "--index-info"), g.keep(ctx, unchanged))
}

// storedIn returns the ids of a tree's files that have a filter, and the texts of those that are small enough
// for a pointer.
func (g git) storedIn(ctx context.Context, tree string) (map[string]string, error) {
	text, err := g.run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	files := parseEntries(text, 2)
	filters, err := g.filters(ctx, slices.Collect(maps.Keys(files)))
	if err != nil {
		return nil, err
	}
	var list []rewrite
	for name := range filters {
		list = append(list, rewrite{after: files[name]})
	}
	contents, err := g.contents(ctx, list)
	texts := map[string]string{}
	for id, c := range contents {
		texts[id] = c.text
	}
	return texts, err
}

// content describes a stored file. Its text is empty if it is too large for a pointer.
type content struct {
	text, digest string
	size         int64
}

// pointer returns the pointer of Git LFS to the content.
func (c content) pointer() string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", c.digest, c.size)
}

func (g git) contents(ctx context.Context, of []rewrite) (map[string]content, error) {
	all := map[string]content{}
	var ids strings.Builder
	for _, c := range of {
		if _, known := all[c.after.id]; !known {
			all[c.after.id] = content{}
			ids.WriteString(c.after.id + "\n")
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	reader, writer := io.Pipe()
	go func() {
		_ = writer.CloseWithError(g.do(ctx, strings.NewReader(ids.String()), writer, "cat-file", "--batch"))
	}()
	defer func() { _ = reader.Close() }()
	from := bufio.NewReader(reader)
	for range all {
		head, err := from.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var id, kind string
		var c content
		if _, err := fmt.Sscan(head, &id, &kind, &c.size); err != nil {
			return nil, fmt.Errorf("git cat-file: %s", head)
		}
		if c.text, c.digest, err = readContent(from, c.size); err != nil {
			return nil, err
		}
		all[id] = c
	}
	return all, nil
}

// readContent reads a file of "git cat-file --batch".
func readContent(from *bufio.Reader, size int64) (text, digest string, err error) {
	sum := sha256.New()
	var small strings.Builder
	into := io.Writer(sum)
	if size <= maxPointer {
		into = io.MultiWriter(sum, &small)
	}
	if _, err = io.CopyN(into, from, size); err == nil {
		_, err = from.Discard(1)
	}
	return small.String(), hex.EncodeToString(sum.Sum(nil)), err
}
