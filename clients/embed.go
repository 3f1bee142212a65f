// Package clients holds the TypeScript and React clients, which servers hand to those who build
// with them.
package clients

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// Module is the TypeScript client as an ES module. It imports nothing.
//
//go:embed typescript/ringback-client.js
var Module []byte

//go:embed typescript/package.json typescript/README.md typescript/bin typescript/dist
//go:embed react/package.json react/README.md react/dist
var files embed.FS

// Tarballs returns the clients as packages for npm, by file name: <name>-<version>.tgz. They are
// the same bytes each time, so that the digests in a project's lock file stay right.
var Tarballs = sync.OnceValues(func() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, dir := range []string{"typescript", "react"} {
		text, err := files.ReadFile(path.Join(dir, "package.json"))
		if err != nil {
			return nil, err
		}
		var about struct{ Name, Version string }
		if err := json.Unmarshal(text, &about); err != nil {
			return nil, fmt.Errorf("%s/package.json: %w", dir, err)
		}
		if all[about.Name+"-"+about.Version+".tgz"], err = tarball(dir); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// packed is the time when all files of a tarball were changed, as npm itself has it.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// tarball packs a directory as npm does: all files below package/.
func tarball(dir string) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	err = fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if strings.HasPrefix(name, path.Join(dir, "bin")+"/") {
			mode = 0o755
		}
		header := &tar.Header{Name: "package" + strings.TrimPrefix(name, dir), Size: int64(len(text)), Mode: mode, ModTime: packed}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = compressed.Close()
	}
	return out.Bytes(), err
}
