package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// errDamaged is returned for an archive that is not as it was written.
var errDamaged = errors.New("the backup is truncated or damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errDamaged, fmt.Errorf(format, args...))
}

// ReadManifest returns the manifest of a backup.
func ReadManifest(from io.Reader) (Manifest, error) {
	var u unpacker
	_, err := u.open(from)
	return u.report.Manifest, err
}

// Read unpacks a backup into an empty directory. It has verified all of it when it returns without an error.
// roomFunc returns an error if a file of a size has no room.
func Read(ctx context.Context, from io.Reader, to *os.Root, roomFunc func(int64) error) (Report, error) {
	u := &unpacker{to: to, roomFunc: roomFunc, links: map[string]bool{}}
	packed, err := u.open(reader{ctx, from})
	if err != nil {
		return u.report, err
	}
	for {
		h, err := u.tar.Next()
		switch {
		case ctx.Err() != nil:
			return u.report, context.Cause(ctx)
		case err != nil:
			return u.report, damaged("it ends before its digests: %w", err)
		case h.Name == sumsName:
			return u.report, u.end(packed)
		}
		if err := u.member(h); err != nil {
			return u.report, err
		}
	}
}

type unpacker struct {
	tar      *tar.Reader
	to       *os.Root
	roomFunc func(int64) error
	// sums are the digests of what was unpacked, as they must be at the archive's end.
	sums strings.Builder
	// links are the links that were unpacked.
	links  map[string]bool
	report Report
}

// open reads the manifest. It returns the reader of the archive's compressed text.
func (u *unpacker) open(from io.Reader) (packed io.Reader, err error) {
	packed, err = gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("this is not a backup by ringback backup: %w", err)
	}
	u.tar = tar.NewReader(packed)
	return packed, u.manifest()
}

func (u *unpacker) manifest() error {
	const most = 1 << 20
	h, err := u.tar.Next()
	if err != nil || h.Name != manifestName || h.Size > most {
		return errors.Join(errors.New("this is not a backup by ringback backup: it does not begin with a manifest"), err)
	}
	text, err := io.ReadAll(u.tar)
	if err != nil {
		return damaged("its manifest cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, &u.report.Manifest); err != nil {
		return damaged("its manifest cannot be read: %w", err)
	}
	if u.report.Layout != Layout {
		return fmt.Errorf(
			"the backup was written by version %s in layout %d, and this one reads layout %d: restore it with that version",
			u.report.Version, u.report.Layout, Layout,
		)
	}
	u.report.Bytes += h.Size
	digest := sha256.New()
	digest.Write(text)
	u.sum(digest, manifestName)
	return nil
}

func (u *unpacker) sum(digest hash.Hash, name string) {
	u.sums.WriteString(sumOf(digest, name))
	u.report.Files++
}

// member unpacks a file, a directory or a link. Nothing is written through a link, and no file twice.
func (u *unpacker) member(h *tar.Header) error {
	name := strings.TrimSuffix(h.Name, "/")
	part := partOf(name)
	mode := fs.FileMode(h.Mode & 0o777)
	switch {
	case !fs.ValidPath(name) || !part.Kept || u.isBelowLink(name):
	case h.Typeflag == tar.TypeReg:
		return u.file(h, name, mode|0o600)
	case h.Typeflag == tar.TypeDir:
		return u.to.MkdirAll(name, mode|0o700)
	case h.Typeflag == tar.TypeSymlink && part.links:
		u.links[name] = true
		return u.to.Symlink(h.Linkname, name)
	}
	return fmt.Errorf("the backup has a member that no backup has: %.200q", h.Name)
}

func (u *unpacker) isBelowLink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if u.links[dir] {
			return true
		}
	}
	return false
}

func (u *unpacker) file(h *tar.Header, name string, mode fs.FileMode) error {
	if err := u.to.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := u.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	digest := sha256.New()
	to := &sparse{file: f, roomFunc: u.roomFunc}
	n, err := io.Copy(io.MultiWriter(to, digest), u.tar)
	err = errors.Join(err, f.Truncate(n), f.Close())
	if to.full != nil {
		return to.full
	}
	if _, ofDisk := errors.AsType[*fs.PathError](err); err != nil && !ofDisk && !errors.Is(err, context.Canceled) {
		err = damaged("%s: %w", name, err)
	}
	if err != nil {
		return err
	}
	u.report.Bytes += n
	u.sum(digest, name)
	return u.to.Chtimes(name, h.ModTime, h.ModTime)
}

// sparse writes to a file what is not zero, as long as there is room: a job's file may be large and take none.
type sparse struct {
	file     *os.File
	roomFunc func(int64) error
	// full is why there is no room.
	full error
}

// Write implements io.Writer.
func (s *sparse) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) == 0 {
		_, err := s.file.Seek(int64(len(p)), io.SeekCurrent)
		return len(p), err
	}
	if s.full = s.roomFunc(int64(len(p))); s.full != nil {
		return 0, s.full
	}
	return s.file.Write(p)
}

// end compares the digests, and reads what follows: gzip has a checksum of its own at the end.
func (u *unpacker) end(packed io.Reader) error {
	want := u.sums.String()
	text, err := io.ReadAll(io.LimitReader(u.tar, int64(len(want))+1))
	if err != nil {
		return damaged("its digests cannot be read: %w", err)
	}
	if got := string(text); got != want {
		return damaged("%s does not have its digest", firstDifference(got, want))
	}
	u.report.Files++
	u.report.Bytes += int64(len(text))
	if _, err := u.tar.Next(); !errors.Is(err, io.EOF) {
		return damaged("something follows its digests: %w", err)
	}
	if _, err := io.Copy(io.Discard, packed); err != nil {
		return damaged("%w", err)
	}
	return nil
}

// firstDifference names the file of the first line in which two lists of digests differ.
func firstDifference(got, want string) string {
	lines := strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(lines) || lines[i] != line {
			_, name, _ := strings.Cut(line, "  ")
			return name
		}
	}
	return "a file"
}
