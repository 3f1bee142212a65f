package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// resetConfig writes the configuration of a bare repository of ours anew, before a git
// with credentials reads it. Where no sandbox keeps jobs away from it, one may have
// written there which program git is to run.
func resetConfig(ctx context.Context, environ []string, dir string) error {
	format, err := objectFormat(ctx, environ, dir)
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
func objectFormat(ctx context.Context, environ []string, dir string) (string, error) {
	format, err := local(environ, dir).run(ctx, "rev-parse", "--show-object-format")
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && strings.TrimSpace(format) == "sha256" {
		return "sha256", nil
	}
	return "sha1", nil
}
