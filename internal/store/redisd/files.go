package redisd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// File is a part of a store, opened for a copy. Name is its slash-separated path in the data directory.
type File struct {
	io.ReadCloser
	Name string
	// Size is the number of bytes to copy: the file may grow after that.
	Size int64
}

const (
	filesDir     = "redis"
	appendOnly   = "appendonly.aof" // a file before Redis 7, a prefix of names since then
	appendOnlyIn = "appendonlydir"
)

// errReplaced is returned if Redis has replaced its files while they were opened.
var errReplaced = errors.New("the files of the store were replaced")

// OpenFiles opens the files of the durable store in a data directory, whether or not its Redis runs. They are
// the store at one moment, because each commit is appended to the last file as a whole, and the others do not
// change; Redis drops the rest of a commit that is cut off. A rewrite replaces all of them, and is noticed by the
// manifest that lists them. It returns fs.ErrNotExist if there is no store.
func OpenFiles(dataDir string) (files []File, err error) {
	const tries = 100 // a rewrite takes much longer than opening the files
	for range tries {
		files, err = openFiles(dataDir)
		if err == nil {
			return files, nil
		}
		CloseFiles(files)
		if !errors.Is(err, errReplaced) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, err
}

// CloseFiles closes what OpenFiles has opened.
func CloseFiles(files []File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func openFiles(dataDir string) (files []File, err error) {
	manifest := path.Join(filesDir, appendOnlyIn, appendOnly+".manifest")
	before, err := readManifest(dataDir, manifest)
	if err != nil {
		return nil, err
	}
	names := []string{path.Join(filesDir, appendOnly)}
	if before != nil {
		files = append(files, File{io.NopCloser(bytes.NewReader(before)), manifest, int64(len(before))})
		if names, err = listed(before); err != nil {
			return files, err
		}
	}
	for _, name := range names {
		f, err := os.Open(filepath.Join(dataDir, name))
		if err != nil {
			return files, err
		}
		info, err := f.Stat()
		if err != nil {
			return files, errors.Join(err, f.Close())
		}
		files = append(files, File{f, name, info.Size()})
	}
	after, err := readManifest(dataDir, manifest)
	if err == nil && !bytes.Equal(before, after) {
		err = errReplaced
	}
	return files, err
}

// readManifest returns nil for the store of a Redis before 7, which has no manifest.
func readManifest(dataDir, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dataDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// listed returns the paths of the files in a manifest, such as "file appendonly.aof.2.incr.aof seq 2 type i",
// without those that Redis is about to delete (type h).
func listed(manifest []byte) (names []string, err error) {
	for line := range strings.Lines(string(manifest)) {
		words := strings.Fields(line)
		if len(words) < 6 || words[0] != "file" || words[4] != "type" || path.Base(words[1]) != words[1] {
			return nil, fmt.Errorf("the manifest of the embedded Redis has an unknown line: %.100q", line)
		}
		if words[5] != "h" {
			names = append(names, path.Join(filesDir, appendOnlyIn, words[1]))
		}
	}
	return names, nil
}
