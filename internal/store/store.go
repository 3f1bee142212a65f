package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Options say how the store behaves. Zero values take the defaults of New.
type Options struct {
	// Retention is how long finished jobs and events are kept; default 7 days.
	Retention time.Duration
	// QueueTimeout is how long a job waits for a worker; default 24 h.
	QueueTimeout time.Duration
	// HumanTimeout is how long a checkpoint waits for a reply; default 24 h.
	HumanTimeout time.Duration
	// Notify are the ways by which the outside is told of jobs: TaskWebhook and
	// TaskSlack.
	Notify []TaskKind
	// UserLimit is how many jobs of one user run at once, on all nodes; default 4.
	UserLimit int
	// NodeTimeout is how long a node may be silent before its turns are rung
	// again elsewhere; default 30 s.
	NodeTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Retention == 0 {
		o.Retention = 7 * 24 * time.Hour
	}
	if o.QueueTimeout == 0 {
		o.QueueTimeout = 24 * time.Hour
	}
	if o.HumanTimeout == 0 {
		o.HumanTimeout = 24 * time.Hour
	}
	if o.UserLimit == 0 {
		o.UserLimit = 4
	}
	if o.NodeTimeout == 0 {
		o.NodeTimeout = 30 * time.Second
	}
	return o
}

// Store is all state of Ringback. It is safe for concurrent use.
type Store struct {
	rdb     redis.UniversalClient
	opts    Options
	scripts scripts
	log     *slog.Logger
}

// New returns a store on a Redis client.
func New(rdb redis.UniversalClient, opts Options, log *slog.Logger) *Store {
	return &Store{rdb: rdb, opts: opts.withDefaults(), scripts: loadScripts(), log: log}
}

// LogClient sends what the Redis client has to say to log, for debugging: each
// failure is reported by whoever is affected by it. It applies to the process.
func LogClient(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l clientLog) Printf(_ context.Context, format string, args ...any) {
	l.log.Debug(fmt.Sprintf(format, args...))
}

// Connect opens a client for REDIS_URL: redis:// or rediss://, several hosts
// separated by commas for Cluster, ?master_name= for Sentinel.
func Connect(rawURL string) (redis.UniversalClient, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("REDIS_URL is not a URL: want redis://host:port/db")
	}
	hosts := strings.Split(u.Host, ",")
	query := u.Query()
	master := query.Get("master_name")
	query.Del("master_name")
	u.Host, u.RawQuery = hosts[0], query.Encode()
	one, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	addrs := []string{one.Addr}
	addrs = append(addrs, hosts[1:]...)
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: addrs, DB: one.DB, Username: one.Username, Password: one.Password, TLSConfig: one.TLSConfig,
		MasterName: master, ClientName: "ringback", DisableIdentity: true,
		PoolSize: 64, MinIdleConns: 2, ContextTimeoutEnabled: true, DialerRetries: 1,
		DialTimeout: 2 * time.Second, ReadTimeout: 3 * time.Second, WriteTimeout: 3 * time.Second,
	}), nil
}

// Prepare waits until Redis answers and creates what dispatch needs.
func (s *Store) Prepare(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	for p := range Partition(Partitions) {
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			err := s.rdb.XGroupCreateMkStream(ctx, p.key("queue", string(priority)), "workers", "0").Err()
			if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
				return storeError(err)
			}
		}
	}
	return nil
}

// Ping reports whether Redis answers.
func (s *Store) Ping(ctx context.Context) error { return storeError(s.rdb.Ping(ctx).Err()) }

// Close closes the connections.
func (s *Store) Close() error { return s.rdb.Close() }

// Get returns the record of a job, or a NotFound error.
func (s *Store) Get(ctx context.Context, id job.ID) (job.Job, error) {
	p, err := locate(id)
	if err != nil {
		return job.Job{}, err
	}
	fields, err := s.rdb.HGetAll(ctx, p.key("job", string(id))).Result()
	if err != nil {
		return job.Job{}, storeError(err)
	}
	if len(fields) == 0 {
		return job.Job{}, NotFound(id)
	}
	j, err := decodeRecord(id, fields)
	if err != nil {
		return job.Job{}, err
	}
	return j, s.withCheckpoints(ctx, []*job.Job{&j})
}

// field reads one field of a hash of a job's: its record ("job"), "change" or
// "secret". found is false where it has no such field, or there was an error.
func (s *Store) field(ctx context.Context, hash string, id job.ID, name string) (text string, found bool, err error) {
	p, err := locate(id)
	if err != nil {
		return "", false, err
	}
	text, err = s.rdb.HGet(ctx, p.key(hash, string(id)), name).Result()
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	return text, err == nil, storeError(err)
}

// setFields sets fields of a hash of a job's: names and values, in turn.
func (s *Store) setFields(ctx context.Context, hash string, id job.ID, pairs ...any) error {
	p, err := locate(id)
	if err != nil {
		return err
	}
	return storeError(s.rdb.HSet(ctx, p.key(hash, string(id)), pairs...).Err())
}

// NotFound is the error for a job that does not exist.
func NotFound(id job.ID) error {
	return job.Errorf(job.NotFound, "No job has the requestId %q", string(id)).
		WithHint("It may have been removed after its retention time. GET /api/jobs lists the jobs there are.")
}

// Signature returns what a callback of a live job must carry; the empty
// Signature when the job's secret has run out.
func (s *Store) Signature(ctx context.Context, id job.ID) (Signature, error) {
	secret, found, err := s.field(ctx, "secret", id, "secret")
	if !found {
		return "", err
	}
	return Secret(secret).Sign(id), nil
}
