package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"ringback/internal/server/backup"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/turn/runner"
)

// BackupOptions are the settings of a backup from the command line.
type BackupOptions struct {
	Config  config.Config
	Version string
	// FilesOnly leaves out the store.
	FilesOnly bool
	// ShownFunc is called with what is done so far.
	ShownFunc func(backup.Report)
}

// Backup writes a backup of an installation. With an embedded store, its server may be running.
func Backup(ctx context.Context, o BackupOptions, to io.Writer) (backup.Report, error) {
	m := backup.Manifest{
		Layout: backup.Layout, Version: o.Version, Format: store.Format, HasStore: !o.FilesOnly,
		Nodes: slices.Sorted(maps.Keys(runner.Nodes(o.Config.DataDir))),
	}
	var files []redisd.File
	var err error
	switch {
	case o.FilesOnly:
	case o.Config.RedisURL != "":
		var done func()
		files, done, err = filesOfRedis(ctx, o.Config)
		defer done()
	default:
		files, err = filesOfEmbedded(o.Config.DataDir)
	}
	defer redisd.CloseFiles(files)
	if err != nil {
		return backup.Report{}, err
	}
	m.CreatedAt = time.Now().UTC()
	r, err := backup.Write(ctx, to, m, o.Config.DataDir, files, o.ShownFunc)
	r.Notes = notesOnRedis(ctx, o.Config)
	return r, err
}

// notesOnRedis describes what is wrong with the setup of a Redis of the operator's.
func notesOnRedis(ctx context.Context, c config.Config) (notes []string) {
	if c.RedisURL == "" {
		return nil
	}
	client, err := store.Connect(c.RedisURL)
	if err != nil {
		return []string{err.Error()}
	}
	defer client.Close()
	fit, err := store.JudgeFitness(ctx, client, c.RedisWait)
	if err != nil {
		return []string{redisAt(c.RedisURL) + " cannot be checked: " + err.Error()}
	}
	for _, text := range slices.Concat(fit.Faults, fit.Warnings) {
		notes = append(notes, redisAt(c.RedisURL)+" "+text)
	}
	return notes
}

func filesOfEmbedded(dir string) ([]redisd.File, error) {
	files, err := redisd.OpenFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"DATA_DIR: there is no store in %s. If the server runs elsewhere, set DATA_DIR as it is set there. "+
				"A store in memory (without redis-server on PATH) cannot be backed up", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: the store cannot be read: %w", err)
	}
	return files, nil
}

// filesOfRedis copies the store from a Redis of the operator's into an embedded one, and returns that one's files.
// done removes them.
func filesOfRedis(ctx context.Context, c config.Config) (files []redisd.File, done func(), err error) {
	dir, err := os.MkdirTemp("", "ringback-backup-")
	if err != nil {
		return nil, func() {}, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	from, stop, err := openQuietly(ctx, c)
	if err != nil {
		return nil, done, err
	}
	defer stop()
	if err := checkUnused(ctx, from); err != nil {
		return nil, done, err
	}
	err = withEmbedded(ctx, c, dir, func(_ *redisd.Embedded, to *store.Store) error { return from.CopyTo(ctx, to) })
	if err != nil {
		return nil, done, fmt.Errorf("REDIS_URL: the store cannot be copied: %w", err)
	}
	if err := checkUnused(ctx, from); err != nil { // one may have started
		return nil, done, err
	}
	files, err = redisd.OpenFiles(dir)
	return files, done, err
}

// checkUnused returns an error while servers use a store, because it would change while it is copied.
func checkUnused(ctx context.Context, s *store.Store) error {
	format, err := s.Nodes.Format(ctx)
	if err == nil && len(format.Servers) > 0 {
		names := make([]string, len(format.Servers))
		for i, server := range format.Servers {
			names[i] = server.Name
		}
		err = fmt.Errorf(
			"servers use it (%s), so what is copied would not be of one moment. Stop them; or use the snapshots of your Redis, "+
				"and --files-only for the files of this node", strings.Join(names, ", "))
	}
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	return nil
}

// withEmbedded calls do while an embedded store runs in a directory that no server uses.
func withEmbedded(ctx context.Context, c config.Config, dir string, do func(*redisd.Embedded, *store.Store) error) error {
	quiet := slog.New(slog.DiscardHandler)
	store.LogClient(quiet)
	embedded, err := redisd.StartEmbedded(ctx, redisd.Embedding{Dir: dir, WritableFunc: func() error { return nil }, Log: quiet})
	if err != nil {
		return err
	}
	defer embedded.Close()
	if !embedded.Durable {
		return errors.New("redis-server or valkey-server must be on PATH")
	}
	s := store.New(embedded.Client, store.Options{Retention: c.Retention, NodeTimeout: c.NodeTimeout}, quiet)
	return errors.Join(do(embedded, s), s.Close())
}
