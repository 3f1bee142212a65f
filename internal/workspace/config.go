package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/process"
	"ringback/internal/untrusted"
)

// misleading lists paths in a bare repository that redirect git to another configuration, to other
// repositories' objects, or to programs. Ringback's repositories have none of them.
var misleading = []string{
	"commondir", "gitdir", "config.worktree", "worktrees", "modules", "hooks", "objects/info/alternates",
	"objects/info/http-alternates",
}

// resetConfig rewrites the configuration of one of Ringback's bare repositories before a git with
// credentials reads it, and removes the misleading paths. Without a sandbox, a job may have
// configured a program there for git to run.
func (root Root) resetConfig(ctx context.Context, dir string) error {
	for _, name := range misleading {
		if err := untrusted.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	format, err := root.objectFormat(ctx, dir)
	if err != nil {
		return err
	}
	text := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if format != "sha1" {
		text = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = " +
			format + "\n"
	}
	file, err := os.CreateTemp(dir, "config-")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil { // rename replaces a symlink instead of following it
		err = os.Rename(file.Name(), filepath.Join(dir, "config"))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// objectFormat returns sha1 or sha256. An unreadable configuration counts as sha1.
func (root Root) objectFormat(ctx context.Context, dir string) (string, error) {
	format, err := root.local(dir, process.Access{Readable: []string{dir}}).run(ctx, "rev-parse", "--show-object-format")
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && strings.TrimSpace(format) == "sha256" {
		return "sha256", nil
	}
	return "sha1", nil
}
