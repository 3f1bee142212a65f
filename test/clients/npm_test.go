// Package clients tests the TypeScript and React clients and the examples in a real browser
// and in Node, against the real server.
package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringback/test/browser"
	"ringback/test/must"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// repository returns the directory of package.json.
func repository(t testing.TB) string {
	t.Helper()
	return must.Get(filepath.Abs("../.."))(t)
}

// tool runs a program of an npm package in the repository, and returns its output. The test
// is skipped if the packages are not installed, unless CI is set.
func tool(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	root := repository(t)
	path := filepath.Join(root, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("the npm packages are not installed: run make deps")
		}
		t.Fatal("the npm packages are not installed: run make deps")
	}
	return run(t, exec.CommandContext(t.Context(), path, args...))
}

// run runs a command in the repository, which must succeed.
func run(t testing.TB, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = repository(t), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, stderr.String())
	}
	return out
}

// bundle bundles a source and everything it imports into one script.
func bundle(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	flags = append([]string{
		source, "--bundle", "--log-level=warning", "--define:process.env.NODE_ENV=\"production\"",
		"--alias:ringback-client=./clients/typescript/src/index.ts", "--alias:ringback-react=./clients/react/src/index.tsx",
	}, flags...)
	return tool(t, "esbuild", flags...)
}
