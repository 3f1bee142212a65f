package redisd

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// A store knows its own place, whenever its server died, and no other, however its files came there.
func TestACopyOfAStoreIsRecognized(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-server is not installed: run make deps")
	}
	if birthOf(t.TempDir()) == "" {
		t.Skip("this file system does not record when files are created")
	}
	const back = `rm -rf redis; cp -a kept redis`
	for name, row := range map[string]struct {
		// before runs once the store has settled, after once it has settled again and has stopped.
		before, after string
		isCopy        bool
	}{
		"a restart": {"", "", false},
		"a server that died before it renamed its marker":  {"ln redis/place old", "mv redis/place redis/place.next; mv old redis/place", false},
		"a server that died before it recorded its marker": {"", "touch redis/place.next", false},
		"a directory that was moved":                       {"", "mv redis elsewhere; mkdir other; mv elsewhere redis", false},
		"files whose owner and times have changed":         {"", "chmod -R go+r redis; find redis -type f -exec touch {} +", false},
		"a copy":                                 {"", "cp -a redis copied; rm -rf redis; mv copied redis", true},
		"a backup":                               {"cp -a redis kept", back, true},
		"a backup over the present files":        {"cp -a redis kept", "cp -a kept/. redis", true},
		"a backup of the append-only files":      {"cp -a redis/appendonlydir kept", "rm -rf redis/appendonlydir; cp -a kept redis/appendonlydir", true},
		"a backup by tar over the present files": {"tar -cf kept.tar redis", "tar -xf kept.tar", true},
		"a store whose marker is gone":           {"", "rm redis/place", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			shell := func(command string) {
				cmd := exec.Command("sh", "-ec", command)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", command, err, out)
				}
			}
			start := func() *Embedded {
				return must.Get(StartEmbedded(context.WithoutCancel(t.Context()), Embedding{
					Dir: dir, WritableFunc: func() error { return nil }, Log: slog.New(slog.DiscardHandler),
				}))(t)
			}
			e := start()
			must.Equal(t, false, must.Get(e.IsCopy(t.Context()))(t), "a new store is a copy")
			must.OK(t, e.Settle(t.Context()))
			shell(row.before)
			must.OK(t, e.Settle(t.Context()))
			e.Close()
			shell(row.after)
			e = start()
			defer e.Close()
			must.Equal(t, row.isCopy, must.Get(e.IsCopy(t.Context()))(t), name, "is a copy")
			must.OK(t, e.Settle(t.Context()))
			must.Equal(t, false, must.Get(e.IsCopy(t.Context()))(t), "a store that has settled is a copy")
			if left, _ := filepath.Glob(filepath.Join(dir, "redis", "place.*")); len(left) > 0 {
				t.Errorf("%s is left", left)
			}
		})
	}
}
