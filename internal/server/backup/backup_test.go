package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/store/redisd"
	"ringback/test/generated"
	"ringback/test/must"
)

//go:generate go test -vet=off . -run TestTheDocumentListsTheParts -update

func TestTheDocumentListsTheParts(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| in `DATA_DIR` | in a backup | |\n| --- | --- | --- |\n")
	for _, p := range Parts {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", p.Path, map[bool]string{true: "yes", false: "no"}[p.Kept], p.Why)
	}
	generated.Section(t, "how-to/backup.md", "parts", table.String())
}

func TestWhatIsInABackup(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{
		"redis/appendonlydir/appendonly.aof.1.base.rdb": true,
		"redis/appendonly.aof":                          true,
		"redis/lock":                                    false,
		"conversations":                                 true,
		"conversations/a/b.jsonl":                       true,
		"nodes":                                         false,
		"nodes/0":                                       false,
		"nodes/0/lock":                                  false,
		"nodes/0/node":                                  true,
		"nodes/0/jobs/req_1/work/turn-1.json":           true,
		"nodes/0/jobs/req_1/turn-1.stdout":              true,
		"nodes/0/jobs/req_1/turn-1.json":                false,
		"nodes/0/jobs/req_1/copies/.credentials.json":   false,
		"workspaces/req_1/tree/service/main.go":         true,
		"workspaces/req_1/caches/go/x":                  false,
		"mirrors/abc/HEAD":                              false,
		"api-keys":                                      false,
		".env":                                          false,
		".ringback-restore/verified.json":               false,
	} {
		must.Equal(t, kept, partOf(name).Kept, name, "is in a backup")
	}
	for _, dir := range []string{"redis", "nodes", "nodes/0", "workspaces"} {
		must.Equal(t, true, leadsToKept(dir), dir, "leads to something")
	}
	must.Equal(t, false, leadsToKept("mirrors"))
	must.Equal(t, "redis", Tops()[len(Tops())-1], "what is moved last")
}

// install makes a data directory.
func install(t *testing.T) (dir string, store func() []redisd.File) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"conversations/c/session.jsonl": "{}", "nodes/0/node": "node_a", "nodes/0/lock": "", "nodes/0/jobs/req_1/turn-1.json": "{}",
		"nodes/0/jobs/req_1/work/report.txt": "report", "nodes/0/jobs/req_1/work/with space\nand line": "x",
		"nodes/0/jobs/req_1/copies/login": "a secret", "mirrors/m/HEAD": "x", "api-keys": "a secret",
		"workspaces/req_1/tree/service/run.sh": "#!/bin/sh", "workspaces/req_1/caches/c": "x", "redis/redis.log": "x", "redis/appendonly.aof": "not this one",
	} {
		file := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	must.OK(t, os.Chmod(filepath.Join(dir, "workspaces/req_1/tree/service/run.sh"), 0o700))
	must.OK(t, os.Symlink("/etc", filepath.Join(dir, "workspaces/req_1/tree/out")))
	must.OK(t, os.Symlink("/etc/hostname", filepath.Join(dir, "conversations/link")))
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "nodes/0/jobs/req_1/work/pipe"), 0o600))
	must.OK(t, os.MkdirAll(filepath.Join(dir, "workspaces/req_1/git/service/refs"), 0o700))
	return dir, func() []redisd.File {
		return []redisd.File{{ReadCloser: io.NopCloser(strings.NewReader("appended…")), Name: "redis/appendonly.aof", Size: 8}}
	}
}

func write(t *testing.T, dir string, store []redisd.File) []byte {
	t.Helper()
	var packed bytes.Buffer
	m := Manifest{Layout: Layout, Version: "v1", Format: 9, CreatedAt: time.Now().UTC(), HasStore: true}
	must.Get(Write(t.Context(), &packed, m, dir, store, func(Report) {}))(t)
	return packed.Bytes()
}

func read(t *testing.T, packed []byte) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	to := must.Get(os.OpenRoot(dir))(t)
	defer to.Close()
	_, err = Read(t.Context(), bytes.NewReader(packed), to, func(int64) error { return nil })
	return dir, err
}

// tree describes a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
		switch {
		case err != nil || name == "":
		case d.IsDir():
			found[name] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			found[name] = "to " + must.Get(os.Readlink(path))(t)
		default:
			info := must.Get(d.Info())(t)
			found[name] = info.Mode().String() + " " + string(must.Get(os.ReadFile(path))(t))
		}
		return err
	}))
	return found
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	packed := write(t, dir, store())
	restored := must.Get(read(t, packed))(t)
	must.Equal(t, map[string]string{
		"conversations": "directory", "conversations/c": "directory", "conversations/c/session.jsonl": "-rw------- {}",
		"nodes": "directory", "nodes/0": "directory", "nodes/0/node": "-rw------- node_a", "nodes/0/jobs": "directory", "nodes/0/jobs/req_1": "directory",
		"nodes/0/jobs/req_1/work": "directory", "nodes/0/jobs/req_1/work/report.txt": "-rw------- report", "nodes/0/jobs/req_1/work/with space\nand line": "-rw------- x",
		"redis": "directory", "redis/appendonly.aof": "-rw------- appended", "workspaces": "directory", "workspaces/req_1": "directory",
		"workspaces/req_1/tree": "directory", "workspaces/req_1/tree/service": "directory", "workspaces/req_1/tree/service/run.sh": "-rwx------ #!/bin/sh",
		"workspaces/req_1/tree/out": "to /etc", "workspaces/req_1/git": "directory", "workspaces/req_1/git/service": "directory", "workspaces/req_1/git/service/refs": "directory",
	}, tree(t, restored))

	by := t.TempDir() // and by the tools of every machine
	file := filepath.Join(by, "b.tar.gz")
	must.OK(t, os.WriteFile(file, packed, 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "nodes/0/jobs/req_1/work", `back\slash`), nil, 0o600))
	must.OK(t, os.WriteFile(file, write(t, dir, store()), 0o600))
	out, err := exec.Command("sh", "-ec", `cd "$1"; tar -xzf b.tar.gz; sha256sum -c SHA256SUMS`, "sh", by).CombinedOutput()
	must.OK(t, err)
	must.Contain(t, string(out), "redis/appendonly.aof: OK")
}

// A job makes a file that takes no space, larger than the disk of the machine on which the backup is restored.
func TestALargeEmptyFileNeedsNoRoom(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	const name, size = "nodes/0/jobs/req_1/work/empty", 64 << 20
	must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("begin"), 0o600))
	must.OK(t, os.Truncate(filepath.Join(dir, name), size))
	to := t.TempDir()
	root := must.Get(os.OpenRoot(to))(t)
	defer root.Close()
	room := int64(1 << 20)
	_, err := Read(t.Context(), bytes.NewReader(write(t, dir, store())), root, func(more int64) error {
		if room -= more; room < 0 {
			return errors.New("it does not fit")
		}
		return nil
	})
	must.OK(t, err)
	text := must.Get(os.ReadFile(filepath.Join(to, name)))(t)
	must.Equal(t, size, len(text), "bytes")
	must.Equal(t, "begin", string(bytes.TrimRight(text, "\x00")))
}

// What a job does while its files are listed, or how it names them, neither spoils a backup nor fills the memory.
func TestWhatIsWrittenOfAJob(t *testing.T) {
	t.Parallel()
	w := writer{jobs: map[string]bool{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed()}
	for _, c := range []struct {
		name  string
		again bool
	}{
		{"workspaces", false},
		{"workspaces/a", false},
		{"workspaces/a/tree", false},
		{"workspaces/a/tree/f", false},
		{"workspaces/a/tree/f", true},
		{"workspaces/a/tree/g", false},
		{"workspaces/a/tree", true},
		{"workspaces/b", false},
		{"workspaces/b/tree", false},
		{"workspaces/a", true},
		{"workspaces/b/tree/f", false},
		{"workspaces/b/tree/f", true},
	} {
		must.Equal(t, c.again, w.isAgain(c.name), c.name, "was listed before")
	}
	long, n := "workspaces/c/tree/"+strings.Repeat("long/", 5000), 0
	for ; !w.isAgain(long+strconv.Itoa(n)) && !w.tooMany(long); n++ {
	}
	must.Equal(t, true, n*len(long) < 200<<20, "bytes of paths in memory")

	dir, _ := install(t)
	const name = "conversations/c/session.jsonl"
	d := must.Get(untrusted.OpenOwn(filepath.Dir(filepath.Join(dir, name))))(t)
	defer d.Close()
	e := must.Get(d.Entry(filepath.Base(name)))(t)
	w.bytes = maxOfJob
	must.OK(t, w.entry(e, partOf(name)))
	must.Contain(t, strings.Join(w.report.LeftOut, "\n"), "its job has files with more than")
}

// Names, times and modes that only a job gives its files.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	const work = "nodes/0/jobs/req_1/work/"
	odd := map[string]time.Time{
		"\xff\xfe": time.Unix(0, 0), strings.Repeat("n", 255): time.Unix(1<<33, 0), "-rf *": time.Unix(-5, 7), "é\n|=12 ": time.Unix(1<<40, 0),
		strings.Repeat("d/", 99) + "deep": time.Unix(1, 0),
	}
	for name, at := range odd {
		file := filepath.Join(dir, work, name)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.OK(t, os.WriteFile(file, []byte(name), 0o600))
		must.OK(t, os.Chmod(file, 0o7777|fs.ModeSetuid))
		times := []syscall.Timespec{{Sec: at.Unix()}, {Sec: at.Unix()}}
		must.OK(t, syscall.UtimesNano(file, times))
	}
	must.OK(t, os.Chmod(filepath.Join(dir, work, "-rf *"), 0))
	must.OK(t, os.Symlink(strings.Repeat("x/", 2000), filepath.Join(dir, work, "long")))
	restored := must.Get(read(t, write(t, dir, store())))(t)
	found := 0
	for name := range odd {
		text, err := os.ReadFile(filepath.Join(restored, work, name))
		if err == nil {
			must.Equal(t, name, string(text))
			found++
		}
	}
	must.Equal(t, true, found >= len(odd)-2, found, "of", len(odd), "are restored")
	must.Equal(t, strings.Repeat("x/", 2000), must.Get(os.Readlink(filepath.Join(restored, work, "long")))(t))
}

// A job changes its files while they are copied.
func TestFilesThatChangeWhileTheyAreCopied(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	work := filepath.Join(dir, "nodes/0/jobs/req_1/work")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			name := filepath.Join(work, fmt.Sprint("f", n%7))
			_ = os.WriteFile(name, bytes.Repeat([]byte("x"), n%3*100_000), 0o600)
			_ = os.Truncate(name, int64(n%1000))
			_ = os.RemoveAll(filepath.Join(work, "d"))
			_ = os.Symlink("/etc", filepath.Join(work, "d"))
			_ = os.Remove(filepath.Join(work, "d"))
			_ = os.MkdirAll(filepath.Join(work, "d", "e"), 0o700)
			_ = os.WriteFile(filepath.Join(work, "d", "passwd"), nil, 0o600)
		}
	}()
	for range 20 {
		restored := must.Get(read(t, write(t, dir, store())))(t)
		d := filepath.Join(restored, "nodes/0/jobs/req_1/work/d")
		if info, err := os.Lstat(d); err == nil && info.IsDir() {
			text, _ := os.ReadFile(filepath.Join(d, "passwd"))
			must.Equal(t, 0, len(text), "bytes of a file behind a link")
		}
	}
	stop()
	<-done
	short := store()
	short[0].Size += 100 // the store's file may not become shorter
	_, err := Write(t.Context(), io.Discard, Manifest{}, dir, short, func(Report) {})
	must.Fail(t, err, "was cut while it was copied")
}

// Whatever happened to a backup: it is refused, or what it restores is the same.
func TestADamagedBackupIsRefused(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	packed := write(t, dir, store())
	want := tree(t, must.Get(read(t, packed))(t))
	for n := range packed {
		if n%29 == 0 {
			if _, err := read(t, packed[:n]); err == nil {
				t.Errorf("the first %d of %d bytes are restored", n, len(packed))
			}
		}
		if n%17 != 0 {
			continue
		}
		flipped := bytes.Clone(packed)
		flipped[n] ^= 1 << (n % 8)
		if restored, err := read(t, flipped); err == nil {
			must.Equal(t, want, tree(t, restored), "with the byte", n, "flipped")
		}
	}
}

func archive(t *testing.T, fill func(*tar.Writer)) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := tar.NewWriter(zip)
	fill(w)
	must.OK(t, errors.Join(w.Close(), zip.Close()))
	return packed.Bytes()
}

// archived is archive for a backup. fill gets the digests of what add has added.
func archived(t *testing.T, fill func(*tar.Writer, *strings.Builder)) []byte {
	t.Helper()
	return archive(t, func(w *tar.Writer) {
		var sums strings.Builder
		add(t, w, &sums, tar.Header{Name: manifestName}, string(job.MustJSON(Manifest{Layout: Layout})))
		fill(w, &sums)
	})
}

func add(t *testing.T, w *tar.Writer, sums *strings.Builder, h tar.Header, text string) {
	t.Helper()
	h.Size, h.Mode = int64(len(text)), 0o600
	if h.Typeflag == 0 {
		digest := sha256.Sum256([]byte(text))
		fmt.Fprintf(sums, "%s  %s\n", hex.EncodeToString(digest[:]), h.Name)
	}
	must.OK(t, w.WriteHeader(&h))
	must.Get(io.WriteString(w, text))(t)
}

func TestAHostileArchiveIsRefused(t *testing.T) {
	t.Parallel()
	const work = "nodes/0/jobs/req_1/work/"
	for name, row := range map[string]struct {
		members []tar.Header
		says    string
	}{
		"a file":                     {[]tar.Header{{Name: work + "f"}}, ""},
		"a link of a job's":          {[]tar.Header{{Name: work, Typeflag: tar.TypeDir}, {Name: work + "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, ""},
		"a file above":               {[]tar.Header{{Name: "../f"}}, "that no backup has"},
		"a file above, from within":  {[]tar.Header{{Name: work + "../../../../../../f"}}, "that no backup has"},
		"an absolute path":           {[]tar.Header{{Name: "/etc/f"}}, "that no backup has"},
		"a file of the operator's":   {[]tar.Header{{Name: "api-keys"}}, "that no backup has"},
		"a record of a process":      {[]tar.Header{{Name: "nodes/0/jobs/req_1/turn-1.json"}}, "that no backup has"},
		"a link in the store":        {[]tar.Header{{Name: "redis/appendonlydir", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, "that no backup has"},
		"a link in place of a node":  {[]tar.Header{{Name: "nodes", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}}, "that no backup has"},
		"a hard link":                {[]tar.Header{{Name: work + "l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, "that no backup has"},
		"a device":                   {[]tar.Header{{Name: work + "d", Typeflag: tar.TypeChar}}, "that no backup has"},
		"a pipe":                     {[]tar.Header{{Name: work + "p", Typeflag: tar.TypeFifo}}, "that no backup has"},
		"a file twice":               {[]tar.Header{{Name: work + "f"}, {Name: work + "f"}}, "exists"},
		"a file through a link":      {[]tar.Header{{Name: work, Typeflag: tar.TypeDir}, {Name: work + "l", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, {Name: work + "l/f"}}, "that no backup has"},
		"a file through a link up":   {[]tar.Header{{Name: work, Typeflag: tar.TypeDir}, {Name: work + "l", Typeflag: tar.TypeSymlink, Linkname: "../../../../.."}, {Name: work + "l/f"}}, "that no backup has"},
		"a file in place of a link":  {[]tar.Header{{Name: work, Typeflag: tar.TypeDir}, {Name: work + "l", Typeflag: tar.TypeSymlink, Linkname: "/tmp/f"}, {Name: work + "l"}}, "exists"},
		"a directory through a link": {[]tar.Header{{Name: work, Typeflag: tar.TypeDir}, {Name: work + "l", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, {Name: work + "l/d/", Typeflag: tar.TypeDir}}, "that no backup has"},
	} {
		packed := archived(t, func(w *tar.Writer, sums *strings.Builder) {
			for _, h := range row.members {
				add(t, w, sums, h, "")
			}
			add(t, w, new(strings.Builder), tar.Header{Name: sumsName}, sums.String())
		})
		_, err := read(t, packed)
		if row.says == "" {
			must.OK(t, err)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}

func TestAnArchiveThatIsNotWhole(t *testing.T) {
	t.Parallel()
	const file = "nodes/0/node"
	for name, row := range map[string]struct {
		write func(*tar.Writer, *strings.Builder)
		says  string
	}{
		"no digests": {func(w *tar.Writer, sums *strings.Builder) { add(t, w, sums, tar.Header{Name: file}, "x") }, "ends before its digests"},
		"another digest": {func(w *tar.Writer, sums *strings.Builder) {
			add(t, w, sums, tar.Header{Name: file}, "x")
			add(t, w, new(strings.Builder), tar.Header{Name: sumsName}, strings.Replace(sums.String(), "2d711642", "3d711642", 1))
		}, file + " does not have its digest"},
		"a file fewer": {func(w *tar.Writer, sums *strings.Builder) {
			add(t, tar.NewWriter(io.Discard), sums, tar.Header{Name: file}, "x")
			add(t, w, new(strings.Builder), tar.Header{Name: sumsName}, sums.String())
		}, "does not have its digest"},
		"something behind": {func(w *tar.Writer, sums *strings.Builder) {
			add(t, w, new(strings.Builder), tar.Header{Name: sumsName}, sums.String())
			add(t, w, sums, tar.Header{Name: file}, "x")
		}, "something follows its digests"},
	} {
		if _, err := read(t, archived(t, row.write)); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
	another := archive(t, func(w *tar.Writer) { add(t, w, new(strings.Builder), tar.Header{Name: "README"}, "x") })
	for name, text := range map[string]string{"nothing": "", "a text": "hello", "another archive": string(another)} {
		if _, err := read(t, []byte(text)); err == nil || !strings.Contains(err.Error(), "not a backup by ringback backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := read(t, archive(t, func(w *tar.Writer) {
		add(t, w, new(strings.Builder), tar.Header{Name: manifestName}, `{"layout": 2, "version": "v9.0"}`)
	}))
	must.Fail(t, err, "written by version v9.0 in layout 2")
}

func TestABackupThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	dir, store := install(t)
	to := must.Get(os.OpenRoot(t.TempDir()))(t)
	defer to.Close()
	full := errors.New("it does not fit")
	_, err := Read(t.Context(), bytes.NewReader(write(t, dir, store())), to, func(size int64) error {
		if size > 6 {
			return full
		}
		return nil
	})
	must.Equal(t, true, errors.Is(err, full), err)
}
