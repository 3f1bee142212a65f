package clients

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/sample"
)

// mostBytes is the maximum size that the client may add to a page, minified and compressed.
const mostBytes = 6000

func TestTheClientIsSmall(t *testing.T) {
	t.Parallel()
	script := tool(t, "esbuild", "clients/typescript/src/index.ts", "--bundle", "--minify", "--format=esm", "--log-level=warning")
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(script)
	}
	if err == nil {
		err = w.Close()
	}
	must.OK(t, err)
	t.Logf("%d bytes, %d compressed", len(script), compressed.Len())
	if compressed.Len() > mostBytes {
		t.Errorf("the client has %d bytes compressed, and may have %d", compressed.Len(), mostBytes)
	}
}

// Most users of a client see its types: those of events, kinds and hooks must work as testdata uses
// them, and a block of TypeScript that is copied from a document must compile.
func TestSourcesAreWellTyped(t *testing.T) {
	t.Parallel()
	root, dir := repository(t), t.TempDir()
	files := map[string]string{
		"package.json":  `{"type": "module"}`,
		"tsconfig.json": fmt.Sprintf(`{"extends": "%[1]s/test/clients/testdata/tsconfig.json", "include": [".", "%[1]s/test/clients/testdata", "%[1]s/clients/*/src", "%[1]s/examples/suggestions-react/src"]}`, root),
	}
	documents := must.Get(markdown.Documents(root))(t)
	for name, d := range documents {
		for _, b := range d.Blocks {
			if b.Language == "ts" || b.Language == "tsx" {
				files[fmt.Sprintf("%s-line-%d.%s", strings.ReplaceAll(name, "/", "-"), b.Line, b.Language)] = b.Text
			}
		}
	}
	if len(files) == 2 {
		t.Fatal("no document holds TypeScript")
	}
	for name, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must.OK(t, os.Symlink(filepath.Join(root, "node_modules"), filepath.Join(dir, "node_modules")))
	tool(t, "tsc", "--project", dir)
}

// The packages are packed in a fresh clone without build output, and then used like in a
// project that has installed them.
func TestPackagesHoldAllThatIsImported(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	tool(t, "tsc", "--version") // skips the test without the packages
	root, clone, project := repository(t), t.TempDir(), t.TempDir()
	sources := exec.CommandContext(t.Context(), "sh", "-c", `tar -c --exclude=dist --exclude='*.tsbuildinfo' package.json package-lock.json clients examples/suggestions-react | tar -x -C "$0"`, clone)
	run(t, sources)
	linkPackages(t, root, clone, map[string]string{"ringback-client": "clients/typescript", "ringback-react": "clients/react"})

	pack := exec.CommandContext(t.Context(), "npm", "--prefix", clone, "pack", "--json", "--silent", "--offline",
		"--pack-destination", project, "--workspace", "clients/typescript", "--workspace", "clients/react")
	var packed []struct {
		Name, Filename string
		Files          []struct{ Path string }
	}
	if out := run(t, pack); json.Unmarshal(out, &packed) != nil || len(packed) != 2 {
		t.Fatalf("npm pack printed %s", out)
	}
	installed := map[string]string{}
	for _, p := range packed {
		files := map[string]bool{}
		for _, f := range p.Files {
			files[f.Path] = true
			if !strings.HasPrefix(f.Path, "dist/") && f.Path != "bin/ringback-client.mjs" && f.Path != "README.md" && f.Path != "package.json" || strings.HasSuffix(f.Path, ".tsbuildinfo") {
				t.Errorf("%s holds %s", p.Name, f.Path)
			}
		}
		for _, name := range []string{"README.md", "package.json", "dist/index.js", "dist/index.d.ts"} {
			if !files[name] {
				t.Errorf("%s lacks %s", p.Name, name)
			}
		}
		dir := filepath.Join(project, p.Name)
		must.OK(t, os.Mkdir(dir, 0o700))
		run(t, exec.CommandContext(t.Context(), "tar", "-xzf", filepath.Join(project, p.Filename), "-C", dir))
		installed[p.Name] = filepath.Join(p.Name, "package")
	}
	linkPackages(t, root, project, installed)
	page := filepath.Join(project, "page.mjs")
	if err := os.WriteFile(page, []byte(`import { Ringback } from 'ringback-client';
import { useSuggestions } from 'ringback-react';
new Ringback({ url: 'http://localhost:3001' }).close();
console.log(typeof useSuggestions);
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, exec.CommandContext(t.Context(), "node", page)); string(out) != "function\n" {
		t.Errorf("the page printed %s", out)
	}
}

// linkPackages creates the node_modules of dir: the installed packages of the repository,
// and ours, in the directories (under dir) given by name.
func linkPackages(t testing.TB, root, dir string, ours map[string]string) {
	t.Helper()
	theirs := filepath.Join(root, "node_modules")
	entries := must.Get(os.ReadDir(theirs))(t)
	links := map[string]string{}
	for _, e := range entries {
		links[e.Name()] = filepath.Join(theirs, e.Name())
	}
	for name, at := range ours {
		links[name] = filepath.Join(dir, at)
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, "node_modules"), 0o700))
	for name, target := range links {
		must.OK(t, os.Symlink(target, filepath.Join(dir, "node_modules", name)))
	}
}
