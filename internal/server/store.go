package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/store/redisd"
)

// database is the store together with what runs it.
type database struct {
	client      redis.UniversalClient
	description string
	// subject is the prefix of messages about its setup; empty if there is nothing to check.
	subject  string
	warning  string
	stop     func()
	embedded *redisd.Embedded // nil for another store
}

// failed receives an error if an embedded store cannot be kept running; nil for another store.
func (d *database) failed() <-chan error {
	if d.embedded == nil {
		return nil
	}
	return d.embedded.Failed
}

func (d *database) close() {
	_ = d.client.Close()
	d.stop()
}

func openStore(ctx context.Context, c config.Config, log *slog.Logger) (*database, error) {
	if c.RedisURL != "" {
		client, err := store.Connect(c.RedisURL)
		if err != nil {
			return nil, err
		}
		return &database{
			client: client, description: "Redis at " + hostOf(c.RedisURL), subject: redisAt(c.RedisURL), stop: func() {},
		}, nil
	}
	space, err := freeSpace(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	embedded, err := redisd.StartEmbedded(ctx, redisd.Embedding{
		Dir: c.DataDir, WritableFunc: func() error { return checkDataDir(c.DataDir) },
		Reserve: int64(reserveOf(space.Total)), Log: log, //nolint:gosec // it is a few MiB
	})
	if err != nil {
		return nil, err
	}
	d := &database{
		client: embedded.Client, description: embedded.Description, stop: embedded.Close, embedded: embedded,
	}
	if embedded.Durable {
		d.subject = "the embedded Redis"
	} else {
		d.warning = "The store is in memory only: jobs are lost when the server stops."
	}
	return d, nil
}

// hostOf returns the address of a Redis without its password.
func hostOf(redisURL string) string {
	_, rest, _ := strings.Cut(redisURL, "://")
	host := rest[strings.LastIndexByte(rest, '@')+1:]
	host, _, _ = strings.Cut(host, "?")
	return host
}

// redisAt names an external Redis in messages about its setup.
func redisAt(redisURL string) string { return "REDIS_URL: the Redis at " + hostOf(redisURL) }

// startStore connects to the store, or starts the embedded one.
func (n *node) startStore(ctx context.Context) (stop func(), err error) {
	c := n.opts.Config
	if n.db, err = openStore(ctx, c, n.log); err != nil {
		return nil, err
	}
	n.store = store.New(n.db.client, store.Options{
		Retention: c.Retention, NodeTimeout: c.NodeTimeout, Wait: store.Wait{Replicas: c.RedisWait, Timeout: c.RedisWaitTimeout},
	}, n.log)
	return n.db.close, nil
}

// Examine searches the store of a configuration for inconsistent records of jobs,
// without a server. If mend is set, it repairs them.
func Examine(ctx context.Context, c config.Config, mend bool) (report job.Examination, err error) {
	err = offline(ctx, c, func(s *store.Store, d *doctor.Doctor) error {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		report, err = d.Examine(ctx, mend)
		return err
	})
	return report, err
}

// Format takes a step of an upgrade of the store of a configuration, without a server.
func Format(ctx context.Context, c config.Config, step job.StoreStep) (f job.StoreFormat, err error) {
	err = offline(ctx, c, func(_ *store.Store, d *doctor.Doctor) error {
		f, err = d.Format(ctx, step)
		return err
	})
	return f, err
}

// offline has something done with the store of a configuration, without a server.
func offline(ctx context.Context, c config.Config, do func(*store.Store, *doctor.Doctor) error) error {
	s, stop, err := openQuietly(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	if c.RedisURL == "" { // it is ours alone now: a server that was killed does not count
		if err := s.Nodes.QuitAll(ctx); err != nil {
			return err
		}
	}
	jobs := lifecycle.New(s, nil, lifecycle.Options{UserLimit: c.UserLimit})
	return do(s, doctor.New(s, jobs, slog.New(slog.DiscardHandler)))
}

// openQuietly opens the store of a configuration for a command. stop closes it.
func openQuietly(ctx context.Context, c config.Config) (s *store.Store, stop func(), err error) {
	quiet := slog.New(slog.DiscardHandler)
	store.LogClient(quiet)
	db, err := openStore(ctx, c, quiet)
	if err != nil {
		return nil, nil, err
	}
	return store.New(db.client, store.Options{Retention: c.Retention, NodeTimeout: c.NodeTimeout}, quiet), db.close, nil
}
