package scan

import (
	"bytes"
	"compress/zlib"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// looseObject is where git keeps a file by itself, compressed.
var looseObject = regexp.MustCompile(`/objects/[0-9a-f]{2}/[0-9a-f]{38}$`)

// maxFile is how much of a file is looked at, in bytes.
const maxFile = 16 << 20

// Files looks at the files below a DATA_DIR, but for those of its Redis' data, which
// Store reads. It returns what it found where it may not be.
func (s *Scan) Files(dir string) (leaks []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "appendonlydir" {
			return fs.SkipDir // what is gone, or not for us, holds nothing
		}
		name, relErr := filepath.Rel(dir, path)
		if relErr != nil {
			return relErr
		}
		place := Place{File, filepath.ToSlash(name)}
		leaks = append(leaks, s.Look(place, []byte(place.Name))...)
		if d.Type().IsRegular() {
			leaks = append(leaks, s.Look(place, contents(path))...)
		}
		return nil
	})
	return leaks, err
}

// contents is what a file holds; nothing where it cannot be read.
func contents(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil || !looseObject.MatchString(filepath.ToSlash(path)) {
		return text
	}
	object, err := zlib.NewReader(bytes.NewReader(text))
	if err != nil {
		return text
	}
	plain, _ := io.ReadAll(io.LimitReader(object, maxFile)) // what could be read is looked at
	return plain
}
