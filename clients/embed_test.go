package clients_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"ringback/clients"
	"ringback/test/must"
)

// What npm gets is what the repository holds, below package/, with the program of the client.
func TestTarballsHoldTheFilesOfTheirPackages(t *testing.T) {
	t.Parallel()
	all, err := clients.Tarballs()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d tarballs: %v", len(all), err)
	}
	for name, dir := range map[string]string{"ringback-client-0.1.0.tgz": "typescript", "ringback-react-0.1.0.tgz": "react"} {
		compressed, err := gzip.NewReader(bytes.NewReader(all[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		modes := map[string]int64{}
		for archive := tar.NewReader(compressed); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must.OK(t, err)
			file, below := strings.CutPrefix(header.Name, "package/")
			text, err := io.ReadAll(archive)
			if err != nil || !below {
				t.Fatalf("%s holds %s: %v", name, header.Name, err)
			}
			if committed, err := os.ReadFile(path.Join(dir, file)); err != nil || !bytes.Equal(committed, text) {
				t.Errorf("%s: %s is not what the repository holds: %v", name, file, err)
			}
			modes[file] = header.Mode
		}
		for _, file := range []string{"package.json", "README.md", "dist/index.js", "dist/index.d.ts"} {
			must.Equal(t, 0o644, modes[file], name, "lacks", file)
		}
		if dir == "typescript" && modes["bin/ringback-client.mjs"] != 0o755 {
			t.Error("the client's program cannot be run")
		}
	}
}
