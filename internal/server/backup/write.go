package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/store/redisd"
)

// Layout is the version of the archive: another one is not read.
const Layout = 1

// Manifest is the first member of an archive.
type Manifest struct {
	Layout int `json:"layout"`
	// Version is that of the program that wrote the backup, and Format the newest format of a store that it
	// knows.
	Version   string    `json:"version"`
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"createdAt"`
	// HasStore is false if the store is a Redis of the operator's.
	HasStore bool `json:"hasStore"`
	// Nodes are the nodes that have files here.
	Nodes []string `json:"nodes"`
}

// Report describes a backup.
type Report struct {
	Manifest
	// Files and Bytes are counted as they are in the archive before it is compressed.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// LeftOut are files of jobs that could not be read, with the reasons; at most maxLeftOut.
	LeftOut []string `json:"leftOut,omitempty"`
	// Notes describe settings of a Redis of the operator's that lose more than its snapshots suggest.
	Notes []string `json:"notes,omitempty"`
}

const (
	manifestName = "manifest.json"
	sumsName     = "SHA256SUMS"
	maxLeftOut   = 100
	// maxEntries limits the files and directories of one job: it may make them faster than they are read.
	maxEntries = 500_000
	// maxFile limits the size of a file of a job's, in bytes, which it may make without filling the disk.
	maxFile = 16 << 30
)

// Write writes a backup of a data directory. The store comes first: what is written of a job may be newer, never
// older, than what the store knows of it. shown is called every now and then.
func Write(
	ctx context.Context, to io.Writer, m Manifest, dataDir string, store []redisd.File, shown func(Report),
) (Report, error) {
	packed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return Report{}, err
	}
	w := &writer{
		ctx: ctx, tar: tar.NewWriter(packed), entries: map[string]int{}, report: Report{Manifest: m}, shown: shown,
	}
	manifest := string(job.MustJSON(m)) + "\n"
	err = w.own(manifestName, strings.NewReader(manifest), int64(len(manifest)))
	for _, f := range store {
		if err == nil {
			err = w.own(f.Name, f, f.Size)
		}
	}
	if err == nil {
		err = w.dataDir(dataDir)
	}
	if err == nil {
		sums := w.sums.String()
		err = w.own(sumsName, strings.NewReader(sums), int64(len(sums)))
	}
	if err == nil { // otherwise it must not look complete
		err = errors.Join(w.tar.Close(), packed.Close())
	}
	return w.report, err
}

type writer struct {
	ctx context.Context //nolint:containedctx // a backup is one call
	tar *tar.Writer
	// sums are the digests of the files, in the format of sha256sum.
	sums strings.Builder
	// entries counts what was seen of each job.
	entries map[string]int
	report  Report
	shown   func(Report)
}

// own writes a file that no job can change.
func (w *writer) own(name string, from io.Reader, size int64) error {
	return w.file(tar.Header{Name: name, Size: size, ModTime: w.report.CreatedAt}, from, false)
}

// file writes a file. If it is a job's, it may have become shorter since it was opened: the rest is filled with
// zeros.
func (w *writer) file(h tar.Header, from io.Reader, ofJob bool) error {
	h.Typeflag, h.Format, h.Mode = tar.TypeReg, tar.FormatPAX, h.Mode|0o600
	if err := w.tar.WriteHeader(&h); err != nil {
		return err
	}
	digest := sha256.New()
	both := io.MultiWriter(w.tar, digest, w)
	n, err := io.Copy(both, io.LimitReader(reader{w.ctx, from}, h.Size))
	if missing := h.Size - n; err == nil && missing > 0 {
		if !ofJob {
			return fmt.Errorf("%s was cut while it was copied", h.Name)
		}
		_, err = io.CopyN(both, zeros{}, missing)
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", h.Name, err)
	}
	fmt.Fprintf(&w.sums, "%s  %s\n", hex.EncodeToString(digest.Sum(nil)), h.Name)
	w.report.Files++
	return nil
}

// Write counts what is written.
func (w *writer) Write(p []byte) (int, error) {
	w.report.Bytes += int64(len(p))
	w.shown(w.report)
	return len(p), nil
}

// dataDir writes what belongs to jobs. The store's own files are not among it.
func (w *writer) dataDir(dir string) error {
	d, err := untrusted.OpenOwn(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Walk(w.ctx, math.MaxInt, func(e untrusted.Entry, err error) error {
		kept := partOf(e.Path)
		switch {
		case err != nil && !strings.Contains(e.Path, "/"): // the server's own directories
			return err
		case e.Path == redisTop || !kept.Kept && !leadsToKept(e.Path):
			return skip(e)
		case err != nil:
			w.leaveOut(e.Path, err)
			return nil
		case !kept.Kept:
			return nil
		case w.tooMany(e.Path):
			return skip(e)
		}
		return w.entry(e, kept)
	})
}

// redisTop is the directory of the store, whose files are opened together.
const redisTop = "redis"

func skip(e untrusted.Entry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// tooMany counts an entry, and reports whether its job has more than can be copied.
func (w *writer) tooMany(name string) bool {
	dirs := strings.SplitN(name, "/", 5)
	ofJob := path.Join(dirs[:min(len(dirs), 4)]...)
	if dirs[0] != "nodes" {
		ofJob = path.Join(dirs[:min(len(dirs), 2)]...)
	}
	w.entries[ofJob]++
	if w.entries[ofJob] == maxEntries {
		w.leaveOut(ofJob, fmt.Errorf("it has more than %d files and directories", maxEntries))
	}
	return w.entries[ofJob] >= maxEntries
}

func (w *writer) leaveOut(name string, why error) {
	if at, ok := errors.AsType[*fs.PathError](why); ok {
		why = at.Err // without the whole path
	}
	if !errors.Is(why, fs.ErrNotExist) && len(w.report.LeftOut) < maxLeftOut {
		w.report.LeftOut = append(w.report.LeftOut, fmt.Sprintf("%q: %v", name, why))
	}
}

// entry writes an entry of a directory that is kept, as it is now: a job may be replacing it.
func (w *writer) entry(e untrusted.Entry, kept Part) error {
	h := tar.Header{
		Name: e.Path, Mode: int64(e.Stat.Mode & 0o777), ModTime: time.Unix(e.Stat.Mtim.Unix()), Format: tar.FormatPAX,
	}
	switch {
	case e.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, e.Path+"/"
		return w.tar.WriteHeader(&h)
	case e.IsLink() && kept.links:
		target, err := e.Target()
		if err != nil {
			return nil // it is gone
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, target
		return w.tar.WriteHeader(&h)
	case !e.IsRegular():
		return nil // sockets, pipes and devices
	}
	f, info, err := e.Dir.File(e.Name)
	if err != nil {
		w.leaveOut(e.Path, err)
		return nil
	}
	defer f.Close()
	if info.Size() > maxFile {
		w.leaveOut(e.Path, &untrusted.TooLargeError{Most: maxFile})
		return nil
	}
	h.Size, h.Mode = info.Size(), int64(info.Mode().Perm())
	return w.file(h, f, true)
}

// reader reads until its context ends.
type reader struct {
	ctx  context.Context //nolint:containedctx // a reader is used in one call
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.from.Read(p)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
