package markdown

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// noDocuments are directories whose Markdown is not documentation: the prompts of kinds,
// test data, and generated or third-party files.
var noDocuments = []string{"prompts", "testdata", "node_modules", "bin", "data"}

// Documents returns the documents of a repository, by their paths.
func Documents(root string) (map[string]Document, error) {
	all := map[string]Document{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != "." && (strings.HasPrefix(e.Name(), ".") || slices.Contains(noDocuments, e.Name())):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		if all[path], err = Parse(source); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return all, err
}
