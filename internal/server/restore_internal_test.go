package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/server/backup"
	"ringback/internal/server/config"
	"ringback/test/must"
)

// A restore that could not put all in its place is finished once it can, and until then, no server may start.
func TestARestoreIsFinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stage := stage{data: dir, dir: filepath.Join(dir, restoring)}
	for _, name := range []string{"redis", "nodes", "conversations"} {
		must.OK(t, os.MkdirAll(filepath.Join(stage.files(), name, "0"), 0o700))
	}
	var file, other bytes.Buffer
	for into, at := range map[*bytes.Buffer]time.Time{&file: time.Unix(1, 0), &other: time.Unix(2, 0)} {
		m := backup.Manifest{Layout: backup.Layout, CreatedAt: at}
		must.Get(backup.Write(t.Context(), into, m, t.TempDir(), nil, func(backup.Report) {}))(t)
	}
	must.OK(t, os.WriteFile(stage.verified(), []byte(`{"auditLogs": 7, "createdAt": "1970-01-01T00:00:01Z"}`), 0o600))
	must.OK(t, os.MkdirAll(filepath.Join(dir, "nodes", "of another"), 0o700))
	c := config.Config{DataDir: dir}
	for range 2 {
		_, err := Restore(t.Context(), c, bytes.NewReader(file.Bytes()))
		must.Fail(t, err, "Nothing was overwritten")
		must.Fail(t, checkDataDir(dir), "repeat ringback restore")
		must.Get(os.Stat(filepath.Join(stage.files(), "redis", "0")))(t)
	}
	must.OK(t, os.RemoveAll(filepath.Join(dir, "nodes")))
	_, err := Restore(t.Context(), c, &other)
	must.Fail(t, err, "Repeat it with that file")
	r := must.Get(Restore(t.Context(), c, &file))(t)
	must.Equal(t, 7, r.AuditLogs, "what was found then")
	must.OK(t, checkDataDir(dir))
	entries := must.Get(os.ReadDir(dir))(t)
	must.Equal(t, 3, len(entries), "directories")
}

// A restore that is refused does not touch the directory, which a server may be using.
func TestARefusedRestoreChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "nodes"), 0o700))
	must.OK(t, os.Chmod(dir, 0o500))
	_, err := Restore(t.Context(), config.Config{DataDir: dir}, strings.NewReader(""))
	must.Fail(t, err, "has an installation already (nodes)")
}
