package untrusted_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/untrusted"
	"ringback/test/must"
)

// nest makes directories within each other, deeper than any path can name, with a file in every tenth.
func nest(t testing.TB, dir string, levels int) {
	t.Helper()
	at := must.Get(unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0))(t)
	for level := range levels {
		must.OK(t, unix.Mkdirat(at, "d", 0o700))
		next := must.Get(unix.Openat(at, "d", unix.O_DIRECTORY|unix.O_CLOEXEC, 0))(t)
		if level%10 == 0 {
			must.OK(t, unix.Close(must.Get(unix.Openat(next, "f", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600))(t)))
		}
		must.OK(t, unix.Close(at))
		at = next
	}
	must.OK(t, unix.Close(at))
}

func open(t *testing.T, dir string) untrusted.Dir {
	t.Helper()
	d := must.Get(untrusted.Open(dir))(t)
	t.Cleanup(d.Close)
	return d
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "room")
	must.OK(t, os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(base, "secret"), []byte("a secret"), 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "sub", "deep", "file"), []byte("fine"), 0o600))
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for name, target := range map[string]string{"link": "sub/deep/file", "out": "../secret", "zero": "/dev/zero", "inner": "sub", "loop": "loop"} {
		must.OK(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	_ = unix.Mknod(filepath.Join(dir, "device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))) // only root may
	d := open(t, dir)
	must.Equal(t, "fine", string(must.Get(d.Read("sub/deep/file", 4))(t)))
	if _, err := d.Read("sub/deep/file", 3); !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("a file that is too large was read: %v", err)
	}
	for _, name := range []string{
		"link", "out", "zero", "device", "pipe", "sub", "inner/deep/file", "loop", "loop/x", "", ".", "..", "../secret", "sub/../../secret", "/etc/hostname",
		"sub//deep/file", "sub/deep/file/x", "sub/deep/file\x00", "nothing",
	} {
		if text, err := d.Read(name, 100); err == nil {
			t.Errorf("%q was read as %q", name, text)
		}
	}
	for _, name := range []string{"link", "out", "pipe", "loop"} { // replaced itself, not what it leads to
		must.OK(t, d.Replace(name, []byte("ours")))
		must.Equal(t, "ours", string(must.Get(d.Read(name, 4))(t)), name)
	}
	must.Fail(t, d.Replace("sub", []byte("ours")), "")
	must.Equal(t, "fine", string(must.Get(d.Read("sub/deep/file", 4))(t)))
	must.Equal(t, "a secret", string(must.Get(os.ReadFile(filepath.Join(base, "secret")))(t)))
	if _, err := untrusted.Open(filepath.Join(dir, "inner")); err == nil {
		t.Error("a link was opened as a directory")
	}
}

func TestWhatIsWrittenReplacesOnlyTheFileItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for _, text := range []string{"a long text", "short"} {
		must.OK(t, untrusted.WriteFile(file, []byte(text)))
		must.Equal(t, text, string(must.Get(untrusted.ReadFile(file, 100))(t)))
	}
	must.OK(t, os.Link(file, filepath.Join(dir, "other")))
	must.OK(t, untrusted.WriteFile(file, []byte("new")))
	must.Equal(t, "short", string(must.Get(untrusted.ReadFile(filepath.Join(dir, "other"), 100))(t)), "under its other name, it has")
}

// A job swaps a file and a directory for links and pipes while they are read.
func TestWhatIsSwappedWhileItIsRead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "room")
	for _, name := range []string{"room/x", "room/y", "elsewhere"} {
		must.OK(t, os.MkdirAll(filepath.Join(base, name), 0o700))
	}
	must.OK(t, os.WriteFile(filepath.Join(base, "elsewhere", "file"), []byte("a secret"), 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "x", "file"), []byte("fine"), 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "y", "file"), []byte("fine"), 0o600))
	must.OK(t, os.Symlink(filepath.Join(base, "elsewhere"), filepath.Join(dir, "a")))
	must.OK(t, os.Symlink(filepath.Join(base, "elsewhere", "file"), filepath.Join(dir, "y", "b")))
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "y", "c"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		swap := func(a, b string) {
			_ = os.Rename(filepath.Join(dir, a), filepath.Join(dir, "tmp"))
			_ = os.Rename(filepath.Join(dir, b), filepath.Join(dir, a))
			_ = os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, b))
		}
		for ctx.Err() == nil {
			swap("x", "a")
			swap("y/file", "y/b")
			swap("y/file", "y/c")
		}
	}()
	d := open(t, dir)
	read := 0
	for range 5000 {
		for _, name := range []string{"x/file", "y/file"} {
			text, err := d.Read(name, 100)
			if err == nil {
				read++
				must.Equal(t, "fine", string(text), name)
			}
		}
	}
	stop()
	<-done
	if read == 0 {
		t.Error("nothing was ever read: the test tests nothing")
	}
}

func TestHowFarAWalkGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/b", "c"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	must.OK(t, os.Symlink("..", filepath.Join(dir, "a", "up")))
	walk := func(ctx context.Context, most int) (paths []string, err error) {
		err = untrusted.Walk(ctx, dir, most, func(e untrusted.Entry, err error) error {
			if err == nil {
				paths = append(paths, e.Path)
			}
			return err
		})
		return paths, err
	}
	if paths, err := walk(t.Context(), 5); err != nil || len(paths) != 5 {
		t.Errorf("it went to %q, %v", paths, err)
	}
	if _, err := walk(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "more than 3 files") {
		t.Errorf("it went too far: %v", err)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(io.ErrClosedPipe)
	if _, err := walk(ended, 100); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it did not end with its context: %v", err)
	}
	nest(t, filepath.Join(dir, "c"), 3000)
	deep, err := walk(t.Context(), 100_000)
	if !errors.Is(err, untrusted.ErrTooDeep) || len(deep) < untrusted.MaxDepth || len(deep) > 2*untrusted.MaxDepth {
		t.Errorf("it went to %d paths, %v", len(deep), err)
	}
}

// A tree is removed, however deep it is, with any permissions, and with nothing that its links
// lead to.
func TestRemovalOfAnyTree(t *testing.T) {
	t.Parallel()
	for name, grow := range map[string]func(t *testing.T, dir string){
		"an empty directory": func(*testing.T, string) {},
		"many files": func(t *testing.T, dir string) {
			t.Helper()
			for n := range 3000 {
				must.OK(t, os.WriteFile(filepath.Join(dir, "f"+strings.Repeat("x", n%200)+string(rune('a'+n%26))), nil, 0o600))
			}
		},
		"3,000 directories within each other":  func(t *testing.T, dir string) { t.Helper(); nest(t, dir, 3000) },
		"30,000 directories within each other": func(t *testing.T, dir string) { t.Helper(); nest(t, dir, 30_000) },
		"two deep branches that end together": func(t *testing.T, dir string) {
			t.Helper()
			for _, branch := range []string{"a", "b"} {
				must.OK(t, os.Mkdir(filepath.Join(dir, branch), 0o700))
				nest(t, filepath.Join(dir, branch), 500)
			}
		},
		"directories that nobody may enter": func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.MkdirAll(filepath.Join(dir, "a", "b", "c", "d"), 0o700))
			for _, closed := range []string{"a/b/c/d", "a/b/c", "a/b", "a", ""} {
				must.OK(t, os.Chmod(filepath.Join(dir, closed), 0))
			}
		},
		"links, pipes and odd names": func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
			must.OK(t, os.Symlink("..", filepath.Join(dir, "up")))
			must.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
			must.OK(t, os.WriteFile(filepath.Join(dir, "\xff\n*"), nil, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir, kept := filepath.Join(base, "tree"), filepath.Join(base, "kept")
			must.OK(t, os.Mkdir(dir, 0o700))
			must.OK(t, os.WriteFile(kept, nil, 0o600))
			grow(t, dir)
			must.OK(t, untrusted.Remove(dir))
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
			must.Get(os.Stat(kept))(t)
		})
	}
}

func TestWhatIsNotThereNeedsNoRemoval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	must.OK(t, os.Mkdir(filepath.Join(dir, "kept"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "kept", "file"), nil, 0o600))
	must.OK(t, os.Symlink("kept", link))
	for _, file := range []string{link, link, filepath.Join(dir, "nothing", "at", "all")} {
		must.OK(t, untrusted.Remove(file))
	}
	must.Get(os.Stat(filepath.Join(dir, "kept", "file")))(t)
}

// Only what a job has left at a path counts as absent. What a machine lacks leaves open whether there is a file.
func TestWhatIsAbsent(t *testing.T) {
	t.Parallel()
	for reason, isJobs := range map[error]bool{
		unix.ENOENT: true, unix.ENOTDIR: true, unix.ELOOP: true, unix.EACCES: true, untrusted.ErrIrregular: true,
		unix.EMFILE: false, unix.ENFILE: false, unix.EIO: false, unix.ESTALE: false, unix.ENOMEM: false, unix.ENOSPC: false,
	} {
		must.Equal(t, isJobs, untrusted.IsJobs(&fs.PathError{Op: "open", Path: "a", Err: reason}), reason)
	}
	must.Equal(t, false, untrusted.IsJobs(nil))
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.OK(t, untrusted.WriteFile(file, []byte("text")))
	for place, want := range map[string]bool{file: true, dir: true, file + "2": false, filepath.Join(dir, "none", "file"): false} {
		must.Equal(t, want, must.Get(untrusted.Exists(place))(t), place)
	}
	_, err := untrusted.Exists(filepath.Join(file, "below"))
	must.Fail(t, err, "not a directory")
}

// A file that is replaced keeps its old text if there is no room for the new one.
func TestAFileIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), strings.Repeat("f", 254)) // the name of the new file would be too long
	must.OK(t, os.WriteFile(file, []byte("old"), 0o600))
	must.Fail(t, untrusted.WriteFile(file, []byte("new")), "")
	must.Equal(t, "old", string(must.Get(untrusted.ReadFile(file, 10))(t)))
}
