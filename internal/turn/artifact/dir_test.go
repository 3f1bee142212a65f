package artifact_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/turn/artifact"
	"ringback/test/must"
)

// newDir makes a working directory with a secret beside it.
func newDir(t *testing.T) (d artifact.Dir, dir string) {
	t.Helper()
	base := t.TempDir()
	d = artifact.Dir{Base: base, Path: "jobs/req_1/work", Hidden: []string{"result.json"}}
	dir = filepath.Join(base, filepath.FromSlash(d.Path))
	write(t, filepath.Join(base, "secret"), "a secret")
	write(t, filepath.Join(base, "jobs/req_1/turn-1.stdout"), "a secret")
	write(t, filepath.Join(base, "jobs/req_2/work/of-another.txt"), "a secret")
	must.OK(t, os.MkdirAll(dir, 0o700))
	return d, dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

func paths(files []artifact.File) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.Path
	}
	return list
}

// hostile fills a working directory with what must not be seen, and returns the
// paths.
func hostile(t *testing.T, dir string) []string {
	t.Helper()
	link := func(target, name string) {
		must.OK(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	write(t, filepath.Join(dir, "result.json"), `{"hmac":"a secret"}`)
	write(t, filepath.Join(dir, ".env"), "a secret")
	write(t, filepath.Join(dir, ".git/config"), "a secret")
	write(t, filepath.Join(dir, "sub/.hidden"), "a secret")
	link(filepath.Join(dir, "../../../secret"), "absolute")
	link("../../../secret", "relative")
	link("../turn-1.stdout", "beside")
	link("result.json", "within")
	link("/etc", "etc")
	link("sub", "inner")
	link("loop", "loop")
	write(t, filepath.Join(dir, "sub/fine.txt"), "fine")
	must.OK(t, os.Link(filepath.Join(dir, "../../../secret"), filepath.Join(dir, "hard")))
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	refused := []string{
		"result.json", ".env", ".git/config", "sub/.hidden", "absolute", "relative", "beside", "within", "etc/hostname", "inner/fine.txt", "loop",
		"hard", "pipe", "sub", "", ".", "..", "../turn-1.stdout", "sub/../result.json", "./result.json", "/etc/hostname", "sub//fine.txt", "sub/fine.txt/",
		"sub/fine.txt/x", "nosuch", "nosuch/x", "sub/fine.txt\x00", "\xff", strings.Repeat("d/", 2000) + "x", strings.Repeat("x", 300),
	}
	if err := syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o600, 1<<8|5); err == nil { // /dev/zero, where this may be made
		refused = append(refused, "device")
	}
	return refused
}

func TestNothingButTheJobsFilesIsSeen(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	refused := hostile(t, dir)
	for _, name := range refused {
		if f, _, err := d.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%.40q) returned %v, want that it does not exist", name, err)
			if f != nil {
				f.Close()
			}
		}
	}
	files, more, err := d.List()
	if diff := cmp.Diff([]string{"sub/fine.txt"}, paths(files)); err != nil || more || diff != "" {
		t.Errorf("more %v, %v; (-want +got):\n%s", more, err, diff)
	}
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	names := []string{"a b", "line\nbreak", `quote"s'`, "päth/ü/名前.txt", "back\\slash", "%2e%2e", "100%", "a:b?c#d&e", "<b>"}
	for _, name := range names {
		write(t, filepath.Join(dir, name), name)
	}
	write(t, filepath.Join(dir, "not-utf8-\xff"), "x")
	files, _, err := d.List()
	if err != nil || len(files) != len(names) {
		t.Errorf("listed %q, %v", paths(files), err)
	}
	for _, name := range names {
		f, info, err := d.Open(name)
		if err != nil {
			t.Errorf("Open(%q): %v", name, err)
			continue
		}
		text, _ := io.ReadAll(f)
		f.Close()
		if string(text) != name || info.Size() != int64(len(name)) {
			t.Errorf("Open(%q) read %q", name, text)
		}
	}
}

// Somebody swaps a file and a directory for links while they are read: what is read
// is the job's own file, or nothing.
func TestSwappedWhileRead(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	write(t, filepath.Join(dir, "x/file"), "fine")
	write(t, filepath.Join(dir, "result.json"), "a secret")
	write(t, filepath.Join(dir, "y/real"), "fine")
	must.OK(t, os.Symlink("../../../..", filepath.Join(dir, "link")))
	write(t, filepath.Join(dir, "../../../file"), "a secret")
	must.OK(t, os.Symlink("../result.json", filepath.Join(dir, "y/link")))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		swap := func(a, b string) {
			_ = os.Rename(filepath.Join(dir, a), filepath.Join(dir, "tmp"))
			_ = os.Rename(filepath.Join(dir, b), filepath.Join(dir, a))
			_ = os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, b))
		}
		for {
			select {
			case <-stop:
				return
			default:
				swap("x", "link")
				swap("y/real", "y/link")
			}
		}
	}()
	found := 0
	for range 5000 {
		for _, name := range []string{"x/file", "y/real"} {
			f, _, err := d.Open(name)
			if err != nil {
				continue
			}
			text, _ := io.ReadAll(f)
			f.Close()
			found++
			if string(text) != "fine" {
				t.Fatalf("%s was read as %q", name, text)
			}
		}
	}
	close(stop)
	<-done
	if found == 0 {
		t.Error("the files were never there: the test tests nothing")
	}
}

func TestTheWorkingDirectoryItselfIsNoLink(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	must.OK(t, os.Remove(dir))
	must.OK(t, os.Symlink("../req_2/work", dir))
	if _, _, err := d.Open("of-another.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another job's file was opened: %v", err)
	}
	if files, _, err := d.List(); len(files) != 0 || err != nil {
		t.Errorf("listed %v, %v", files, err)
	}
	if kept, _, err := d.Prune(); kept != 0 || err != nil {
		t.Errorf("kept %d, %v", kept, err)
	}
	must.Get(os.Stat(filepath.Join(d.Base, "jobs/req_2/work/of-another.txt")))(t)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	for i := range artifact.MaxFiles + 1 {
		write(t, filepath.Join(dir, fmt.Sprintf("many/%04d", i)), "x")
	}
	huge := filepath.Join(dir, "huge")
	write(t, huge, "")
	if err := os.Truncate(huge, artifact.MaxSize+1); err != nil { // sparse
		t.Fatal(err)
	}
	if _, _, err := d.Open("huge"); !errors.Is(err, artifact.ErrTooLarge) {
		t.Errorf("a huge file was opened: %v", err)
	}
	files, more, err := d.List()
	if err != nil || !more || len(files) != artifact.MaxFiles {
		t.Errorf("listed %d, more %v, %v", len(files), more, err)
	}
	kept, dropped, err := d.Prune()
	if err != nil || !dropped || kept != artifact.MaxFiles-1 {
		t.Errorf("kept %d, dropped %v, %v; want all that are listed but the huge one", kept, dropped, err)
	}
	if _, err := os.Stat(huge); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the huge file is still there: %v", err)
	}
}

func TestPruneKeepsWhatIsListedAndNothingElse(t *testing.T) {
	t.Parallel()
	d, dir := newDir(t)
	hostile(t, dir)
	write(t, filepath.Join(dir, "media/image.svg"), "<svg/>")
	kept, dropped, err := d.Prune()
	if kept != 2 || dropped || err != nil {
		t.Errorf("kept %d, dropped %v, %v", kept, dropped, err)
	}
	var left []string
	_ = filepath.WalkDir(dir, func(file string, e fs.DirEntry, _ error) error {
		if !e.IsDir() {
			left = append(left, strings.TrimPrefix(file, dir+"/"))
		}
		return nil
	})
	must.Equal(t, []string{"media/image.svg", "sub/fine.txt"}, left)
	text, _ := os.ReadFile(filepath.Join(d.Base, "secret"))
	must.Equal(t, "a secret", string(text), "what a link led to is now")
}

func TestNoDirectoryIsNoFiles(t *testing.T) {
	t.Parallel()
	d := artifact.Dir{Base: t.TempDir(), Path: "jobs/req_1/work"}
	if files, more, err := d.List(); len(files) != 0 || more || err != nil {
		t.Errorf("listed %v, %v, %v", files, more, err)
	}
	if kept, _, err := d.Prune(); kept != 0 || err != nil {
		t.Errorf("kept %d, %v", kept, err)
	}
}
