package docs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/rig"
)

// readerPatience is how long a documented command may take: it may build everything from
// scratch on a busy machine.
const readerPatience = 3 * time.Minute

// reader follows a document to the letter.
type reader struct {
	document string
	dir      string
	env      []string
	// port is used instead of 3001, and site instead of 8080, because both may be in use on
	// this machine.
	port, site string
	terminals  map[string]*readerTerminal
}

// readerTerminal is a terminal and its last command.
type readerTerminal struct {
	*terminal
	command markdown.Command
}

// newReader creates a home directory and a working directory: an empty one, or, for the
// README, which begins with make, for the documents of examples, and for the one about deploy/,
// a copy of this repository.
func newReader(t *testing.T, document, port string) *reader {
	t.Helper()
	r := &reader{document: document, dir: shortTempDir(t), port: port, site: harness.FreePort(t), terminals: map[string]*readerTerminal{}}
	switch isExample := strings.HasPrefix(document, "examples/"); {
	case isExample, document == "README.md":
		copyRepository(t, r.dir)
		linkPackages(t, r.dir)
		r.dir = filepath.Join(r.dir, filepath.Dir(document))
	case document == filepath.Join("docs", "how-to", "deploy.md"): // after make build
		must.OK(t, os.CopyFS(filepath.Join(r.dir, "deploy"), os.DirFS("../../deploy")))
		must.OK(t, os.Mkdir(filepath.Join(r.dir, "bin"), 0o755))
		must.OK(t, os.Symlink(harness.Binary(), filepath.Join(r.dir, "bin", "ringback")))
	}
	home, path := t.TempDir(), rig.PathWithout(t, "claude", "gh", "ringback")
	if document != "README.md" { // that one describes how to build it
		bin := t.TempDir()
		must.OK(t, os.Symlink(harness.Binary(), filepath.Join(bin, "ringback")))
		path = bin + ":" + path
	}
	gitHub(t, home)
	goSettings(t, home)
	r.env = []string{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8",
		"LISTEN_ADDR=127.0.0.1:" + r.port, "RINGBACK_URL=http://127.0.0.1:" + r.port,
	}
	t.Cleanup(func() { harness.EndProcessesUnder(filepath.Join(r.dir, "data")) })
	return r
}

// gitHub maps https://github.com/org/… to repositories on this machine.
func gitHub(t *testing.T, home string) {
	t.Helper()
	org := t.TempDir()
	module := map[string]string{"go.mod": "module example.com/module\n\ngo 1.20\n", "module.go": "package module\n"}
	harness.GitRepository(t, filepath.Join(org, "service.git"), "main", module)
	harness.GitRepository(t, filepath.Join(org, "client.git"), "develop", module)
	harness.Git(t, "", "config", "--file", filepath.Join(home, ".gitconfig"), "url."+org+"/.insteadOf", "https://github.com/org/")
}

// goSettings makes the go command of a fresh home use the existing build cache.
func goSettings(t *testing.T, home string) {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"}
	values := must.Get(exec.Command("go", append([]string{"env"}, names...)...).Output())(t)
	settings := []string{"GOFLAGS=-trimpath"} // as the Makefile builds
	for i, value := range strings.Split(strings.TrimSuffix(string(values), "\n"), "\n") {
		settings = append(settings, names[i]+"="+value)
	}
	write(t, filepath.Join(home, ".config", "go", "env"), strings.Join(settings, "\n"))
}

// copyRepository copies the files of a clone of this repository.
func copyRepository(t *testing.T, to string) {
	t.Helper()
	entries, err := os.ReadDir("../..")
	must.OK(t, err)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "bin" || name == "data" || name == "dist" || name == "node_modules" {
			continue
		}
		from := filepath.Join("../..", name)
		if e.IsDir() {
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(from))
		} else {
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(filepath.Join(to, name), text, 0o600)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
}

// shortTempDir is t.TempDir without the test's name in the path, which may be long: the
// paths of the embedded store's sockets have a maximum length.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "reader") //nolint:usetesting // see above
	must.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// linkPackages links the installed npm packages, if any, into a copy of this repository.
// Those that are part of the repository are linked to the copy's own directories.
func linkPackages(t *testing.T, to string) {
	t.Helper()
	installed, err := filepath.Abs("../../node_modules")
	must.OK(t, err)
	entries, _ := os.ReadDir(installed)
	for _, e := range entries {
		target := filepath.Join(installed, e.Name())
		if e.Type()&fs.ModeSymlink != 0 { // ../clients/…
			if target, err = os.Readlink(target); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(to, "node_modules", e.Name())
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(link), 0o750), os.Symlink(target, link)))
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o750))
	harness.WriteProgram(t, file, []byte(text))
}

// follow types the commands of a block. The last one may keep running when the reader turns
// to another terminal, once it has printed the documented output.
func (r *reader) follow(t *testing.T, b markdown.Block, turnsAway bool) {
	t.Helper()
	if b.File != "" {
		write(t, filepath.Join(r.dir, b.File), r.here(b.Text))
		return
	}
	if b.Language != "sh" {
		return
	}
	commands, err := b.Commands()
	if err != nil {
		t.Fatalf("%s: %v", r.document, err)
	}
	terminal := r.terminals[b.Terminal]
	if terminal == nil {
		terminal = &readerTerminal{terminal: openTerminal(t, r.dir, r.env)}
		r.terminals[b.Terminal] = terminal
	}
	for i, c := range commands {
		r.finish(t, terminal)
		terminal.command = c
		terminal.enter(t, r.here(cmp.Or(insteadOf[firstWords(c.Source)], c.Source)))
		if i+1 < len(commands) || !turnsAway || c.Output == "" {
			r.finish(t, terminal)
		} else {
			r.awaitOutput(t, terminal)
		}
	}
}

// finish waits until a terminal's command has succeeded and printed the documented output;
// a command whose comment says so is then ended with Ctrl-C.
func (r *reader) finish(t *testing.T, terminal *readerTerminal) {
	t.Helper()
	if !terminal.busy {
		return
	}
	interrupted := strings.Contains(terminal.command.Remark, "Ctrl-C")
	if interrupted {
		r.awaitOutput(t, terminal)
		terminal.ctrlC()
	}
	status, ended := terminal.end(readerPatience)
	switch {
	case !ended:
		r.fail(t, terminal, "to end by itself (or, with Ctrl-C in its remark, by that), but it goes on")
	case status != "0" && !interrupted:
		r.fail(t, terminal, "exit status 0, but it is "+status)
	case !markdown.Printed(terminal.command.Output, r.there(terminal.output())):
		r.fail(t, terminal, "this output:\n"+terminal.command.Output)
	}
}

// awaitOutput waits until a command has printed the documented output.
func (r *reader) awaitOutput(t *testing.T, terminal *readerTerminal) {
	t.Helper()
	for deadline := time.Now().Add(readerPatience); !markdown.Printed(terminal.command.Output, r.there(terminal.output())); {
		if status, ended := terminal.end(10 * time.Millisecond); ended && !markdown.Printed(terminal.command.Output, r.there(terminal.output())) {
			r.fail(t, terminal, fmt.Sprintf("this output, but it ended with exit status %s:\n%s", status, terminal.command.Output))
		}
		if time.Now().After(deadline) {
			r.fail(t, terminal, "this output:\n"+terminal.command.Output)
		}
	}
}

func (r *reader) fail(t *testing.T, terminal *readerTerminal, expected string) {
	t.Helper()
	var others strings.Builder
	for name, other := range r.terminals {
		if other != terminal {
			fmt.Fprintf(&others, "\nMeanwhile in terminal %q:\n%s", name, other.printed())
		}
	}
	t.Fatalf("%s:%d: a documented command does not work:\n%s\n\nExpected: %s\n\nIt printed:\n%s%s",
		r.document, terminal.command.Line, terminal.command.Source, strings.TrimSpace(expected), r.there(terminal.output()), &others)
}

// here and there replace the documented port by the actual one, and back.
func (r *reader) here(text string) string {
	return strings.NewReplacer("localhost:3001", "localhost:"+r.port, "127.0.0.1:3001", "127.0.0.1:"+r.port, "localhost:8080", "localhost:"+r.site, "http.server 8080", "http.server "+r.site).Replace(text)
}

func (r *reader) there(text string) string {
	return strings.NewReplacer("localhost:"+r.port, "localhost:3001", "127.0.0.1:"+r.port, "127.0.0.1:3001", "localhost:"+r.site, "localhost:8080").Replace(text)
}
