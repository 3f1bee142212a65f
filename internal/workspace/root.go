package workspace

import (
	"os"
	"path/filepath"
)

// All returns the ids of the jobs that have a workspace here.
func (root Root) All() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root.Dir, "workspaces"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}
