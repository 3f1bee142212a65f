// Package generated compares generated files, and the generated sections of documents, with the code.
package generated

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

var update = flag.Bool("update", false, "write what is generated")

// root returns the directory of the module: tests start in that of their package.
func root(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.Getwd())(t)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("there is no go.mod above " + dir)
	return ""
}

// Section checks that the section with this name in a document of docs is as wanted, or writes it
// there with -update.
func Section(t *testing.T, document, name, want string) {
	t.Helper()
	file := filepath.Join(root(t), "docs", document)
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	text := must.Get(os.ReadFile(file))(t)
	before, rest, found := strings.Cut(string(text), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s lacks its markers", file)
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(before+begin+want+end+after), 0o600))
		return
	}
	must.Equal(t, want, shown, "docs/"+document+" is not up to date (make generate)")
}

// File checks that a file has the wanted contents, or writes them with -update.
func File(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must.OK(t, os.WriteFile(path, []byte(want), 0o600))
		return
	}
	must.Equal(t, want, string(must.Get(os.ReadFile(path))(t)), path+" is not up to date (make generate)")
}
