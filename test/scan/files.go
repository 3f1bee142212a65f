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

// looseObject matches the paths of git's loose objects, which are compressed.
var looseObject = regexp.MustCompile(`/objects/[0-9a-f]{2}/[0-9a-f]{38}$`)

// maxFile limits the searched part of a file, in bytes.
const maxFile = 16 << 20

// Files searches the files under a DATA_DIR, except Redis' data, which Store reads. It
// returns the secrets in forbidden places.
func (s *Scan) Files(dir string) (leaks []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "appendonlydir" {
			return fs.SkipDir // deleted and inaccessible files contain nothing
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

// contents returns the contents of a file; nothing if it cannot be read.
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
	plain, _ := io.ReadAll(io.LimitReader(object, maxFile)) // search what could be read
	return plain
}
