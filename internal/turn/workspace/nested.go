package workspace

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/gz"
)

// maxUnpacked limits the unpacked size of a snapshot's archive or patch, in bytes.
const maxUnpacked = 1 << 30

// nested returns the directories of a worktree that are separate repositories and belong to the
// captured change: as commits in the tree, or omitted by git because they have no commit.
func (w *Workspace) nested(ctx context.Context, r job.Repository, tree string) ([]string, error) {
	g, done, err := w.emptyIndex(r)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := g.run(ctx, "read-tree", tree); err != nil {
		return nil, err
	}
	found, err := g.links(ctx)
	if err != nil {
		return nil, err
	}
	others, err := g.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(others, "\x00") {
		if name, isDir := strings.CutSuffix(entry, "/"); isDir {
			found = append(found, name)
		}
	}
	return found, nil
}

// packNested writes the nested repositories to an archive, or nothing if there are none. A
// repository with its git directory elsewhere, such as a submodule's, remains empty in the copy;
// its commit is in the tree.
func (w *Workspace) packNested(ctx context.Context, r job.Repository, tree string, into io.Writer) error {
	names, err := w.nested(ctx, r, tree)
	if err != nil {
		return err
	}
	root, err := untrusted.Open(w.worktree(r))
	if err != nil {
		return err
	}
	defer root.Close()
	var archive *tar.Writer
	for _, name := range names {
		dir, err := root.Dir(name)
		if untrusted.IsJobs(err) {
			continue
		}
		if err != nil {
			return err
		}
		git, err := dir.Entry(".git")
		switch {
		case untrusted.IsJobs(err):
			err = nil
		case err == nil && git.IsDir():
			if archive == nil {
				packed := gzip.NewWriter(into)
				defer func() { _ = packed.Close() }() // into reports to its owner that it is full
				archive = tar.NewWriter(packed)
			}
			err = packDir(ctx, dir, name, archive)
		}
		dir.Close()
		if err != nil {
			return err
		}
	}
	if archive == nil {
		return nil
	}
	return archive.Close()
}

const maxPacked = 1_000_000

// packDir writes a directory, and the directories, files and links in it, to an archive. It skips
// other types.
func packDir(ctx context.Context, dir untrusted.Dir, name string, archive *tar.Writer) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700}); err != nil {
		return err
	}
	err := dir.Walk(ctx, maxPacked, func(e untrusted.Entry, err error) error {
		if err != nil {
			return err
		}
		return packEntry(e, path.Join(name, e.Path), archive)
	})
	if _, many := errors.AsType[*untrusted.TooManyError](err); many || errors.Is(err, untrusted.ErrTooDeep) {
		return errTooLarge
	}
	return err
}

func packEntry(e untrusted.Entry, name string, archive *tar.Writer) error {
	head := &tar.Header{
		Name: name, Mode: int64(e.Stat.Mode & 0o777), ModTime: time.Unix(e.Stat.Mtim.Unix()),
	}
	var err error
	switch {
	case e.IsDir():
		head.Typeflag, head.Name = tar.TypeDir, name+"/"
	case e.IsLink():
		head.Typeflag = tar.TypeSymlink
		head.Linkname, err = e.Target()
	case e.IsRegular():
		return packFile(e, head, archive)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return archive.WriteHeader(head)
}

func packFile(e untrusted.Entry, head *tar.Header, archive *tar.Writer) error {
	f, info, err := e.Dir.File(e.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	head.Typeflag, head.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(head); err != nil {
		return err
	}
	_, err = io.CopyN(archive, f, head.Size)
	return err
}

// unpackNested unpacks an archive of packNested into a worktree. Nothing is written outside it.
func unpackNested(worktree string, packed []byte) error {
	if len(packed) == 0 {
		return nil
	}
	text, err := gz.Unpack(packed, maxUnpacked)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(worktree)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewReader(bytes.NewReader(text))
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackEntry(root, head, archive)
		}
		if err != nil {
			return err
		}
	}
}

func unpackEntry(root *os.Root, head *tar.Header, archive io.Reader) error {
	name, mode := path.Clean(head.Name), head.FileInfo().Mode().Perm()
	switch head.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, mode|0o700)
	case tar.TypeSymlink:
		return root.Symlink(head.Linkname, name)
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.CopyN(f, archive, head.Size)
		return errors.Join(err, f.Close())
	}
	return nil
}
