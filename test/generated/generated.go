// Package generated compares generated files, and the generated sections of documents, with the code.
package generated

import (
	"flag"
	"os"
	"strings"
	"testing"

	"ringback/test/must"
)

var update = flag.Bool("update", false, "write what is generated")

// Section checks that the section with this name in a document of docs is as wanted, or writes it
// there with -update.
func Section(t *testing.T, document, name, want string) {
	t.Helper()
	file := "../../docs/" + document
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
