package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/process"
)

// misleading is what may lie in a bare repository and leads git elsewhere: to another
// configuration, to objects of others, or to programs. Ours have none of it.
var misleading = []string{"commondir", "gitdir", "config.worktree", "worktrees", "modules", "hooks", "objects/info/alternates", "objects/info/http-alternates"}

// resetConfig writes the configuration of a bare repository of ours anew, before a git
// with credentials reads it, and removes what would lead that one elsewhere. Where no
// sandbox keeps jobs away from it, one may have written there which program git is to run.
func (root Root) resetConfig(ctx context.Context, dir string) error {
	for _, name := range misleading {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	format, err := root.objectFormat(ctx, dir)
	if err != nil {
		return err
	}
	text := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if format != "sha1" {
		text = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = " + format + "\n"
	}
	file, err := os.CreateTemp(dir, "config-")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil { // a link in its place is replaced, not followed
		err = os.Rename(file.Name(), filepath.Join(dir, "config"))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// objectFormat is sha1 or sha256. A configuration that cannot be read counts as sha1.
func (root Root) objectFormat(ctx context.Context, dir string) (string, error) {
	format, err := root.local(dir, process.Room{Readable: []string{dir}}).run(ctx, "rev-parse", "--show-object-format")
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && strings.TrimSpace(format) == "sha256" {
		return "sha256", nil
	}
	return "sha1", nil
}
