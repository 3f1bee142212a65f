package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
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
	// maxEntries limits the files and directories of one job: it may make them faster than they are read. One with a
	// long path counts as several, because paths are kept in memory.
	maxEntries, longPath = 500_000, 256
	// maxFile limits the size of a file of a job's, and maxOfJob that of all of them, in bytes. A job may make
	// files that are large and empty without filling the disk.
	maxFile, maxOfJob = 16 << 30, 64 << 30
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
		ctx: ctx, tar: tar.NewWriter(packed), jobs: map[string]bool{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed(),
		report: Report{Manifest: m}, shown: shown,
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
	// job is the job whose files are being written; jobs has those before it, too. entries and bytes count what was
	// seen of it, and seen has the hashes of its paths.
	job            string
	jobs           map[string]bool
	entries, bytes int64
	seen           map[uint64]bool
	seed           maphash.Seed
	report         Report
	shown          func(Report)
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
	w.sums.WriteString(sumOf(digest, h.Name))
	w.report.Files++
	return nil
}

// sumOf returns a line of digests as sha256sum writes it.
func sumOf(digest hash.Hash, name string) string {
	line := hex.EncodeToString(digest.Sum(nil)) + "  " + name + "\n"
	if escaped := strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`).Replace(name); escaped != name {
		line = `\` + strings.Replace(line, name, escaped, 1)
	}
	return line
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
		case w.isAgain(e.Path) || w.tooMany(e.Path):
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

// isAgain reports whether an entry was written already: one that is replaced while its directory is listed can be
// listed twice, and nothing is restored twice.
func (w *writer) isAgain(name string) bool {
	if of := jobOf(name); of != w.job {
		if w.jobs[of] {
			return true
		}
		w.job, w.entries, w.bytes = of, 0, 0
		w.jobs[of] = true
		clear(w.seen)
	}
	hash := maphash.String(w.seed, name)
	again := w.seen[hash]
	w.seen[hash] = true
	return again
}

// tooMany counts an entry, and reports whether its job has more than can be copied.
func (w *writer) tooMany(name string) bool {
	before := w.entries
	w.entries += 1 + int64(len(name)/longPath)
	if before < maxEntries && w.entries >= maxEntries {
		w.leaveOut(w.job, fmt.Errorf("it has more than %d files and directories", maxEntries))
	}
	return w.entries >= maxEntries
}

// jobOf returns the directory of the job that a path belongs to.
func jobOf(name string) string {
	dirs := strings.SplitN(name, "/", 5)
	if dirs[0] == "nodes" {
		return path.Join(dirs[:min(len(dirs), 4)]...)
	}
	return path.Join(dirs[:min(len(dirs), 2)]...)
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
	switch w.bytes += min(info.Size(), maxFile); {
	case info.Size() > maxFile:
		w.leaveOut(e.Path, &untrusted.TooLargeError{Most: maxFile})
		return nil
	case w.bytes > maxOfJob:
		w.leaveOut(e.Path, fmt.Errorf("its job has files with more than %d bytes", int64(maxOfJob)))
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
