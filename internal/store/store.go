package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Options say how the store behaves. Zero values take the defaults of New.
type Options struct {
	// Retention is how long finished jobs and events are kept; default 7 days.
	Retention time.Duration
	// NodeTimeout is how long a node may be silent before its turns are rung
	// again elsewhere; default 30 s.
	NodeTimeout time.Duration
	// Wait says what is waited for before a promise is given.
	Wait Wait
}

func (o Options) withDefaults() Options {
	if o.Retention == 0 {
		o.Retention = 7 * 24 * time.Hour
	}
	if o.NodeTimeout == 0 {
		o.NodeTimeout = 30 * time.Second
	}
	return o
}

// Store is all state of Ringback. It is safe for concurrent use.
type Store struct {
	rdb redis.UniversalClient
	// crowd takes progress reports.
	crowd   crowd
	opts    Options
	scripts scripts
	// scriptKeys are the keys of scripts, by partition.
	scriptKeys [Partitions][]string
	// clock is Redis' own.
	clock clock
	// past is what this node has heard of the store's events.
	past past
	// chats are those of jobs, which never change: so most states are read in one round.
	chats *lru.Cache[job.ID, chatOf]
	// errors counts the commands that the store did not carry out because it was away.
	errors atomic.Int64
	log    *slog.Logger
}

// New returns a store on a Redis client.
func New(rdb redis.UniversalClient, opts Options, log *slog.Logger) *Store {
	chats, err := lru.New[job.ID, chatOf](knownChats)
	if err != nil {
		panic("store: " + err.Error()) // it has a size
	}
	s := &Store{rdb: rdb, opts: opts.withDefaults(), scripts: loadScripts(), log: log, chats: chats}
	s.makeScriptKeys()
	rdb.AddHook(errorCount{&s.errors})
	watch(rdb, log)
	if s.crowd, err = newCrowd(rdb); err != nil {
		panic("store: " + err.Error()) // every client that Connect opens can do it
	}
	return s
}

// knownChats is how many jobs' chats are known without reading them.
const knownChats = 10000

// chatOf says where a job's chat is.
type chatOf struct{ user, session string }

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
	one.DialTimeout = dialTimeout
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Dialer: dialer(one), Addrs: addrs, DB: one.DB, Username: one.Username, Password: one.Password, TLSConfig: one.TLSConfig,
		MasterName: master, DisableIdentity: true, OnConnect: nameConnection,
		PoolSize: 64, MinIdleConns: 2, ContextTimeoutEnabled: true, DialerRetries: 1,
		DialTimeout: dialTimeout, ReadTimeout: readTimeout, WriteTimeout: 3 * time.Second,
	}), nil
}

// dialTimeout is how long a connection may take to open.
const dialTimeout = 2 * time.Second

// readTimeout is how long Redis may take to answer.
const readTimeout = 3 * time.Second

// nameConnection lets CLIENT LIST tell whose a connection is. It works without a name, so
// a user need not be allowed it. But where no answer came, the connection is of no use: the
// answer may come later, and would be taken for that to the next command.
func nameConnection(ctx context.Context, connection *redis.Conn) error {
	err := connection.ClientSetName(ctx, "ringback").Err()
	if _, refused := errors.AsType[redis.Error](err); refused {
		return nil
	}
	return err
}

// Prepare waits until Redis answers and creates what dispatch needs.
func (s *Store) Prepare(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	if err := s.checkFormat(ctx); err != nil {
		return err
	}
	pipe := s.rdb.Pipeline()
	for p := range Partition(Partitions) {
		pipe.SetNX(ctx, p.key("latest"), 0, 0)
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			pipe.XGroupCreateMkStream(ctx, p.key("queue", string(priority)), "workers", "0")
		}
	}
	created, err := pipe.Exec(ctx)
	for _, one := range created {
		if err := one.Err(); err != nil && errorCode(err) != "BUSYGROUP" {
			return storeError(err)
		}
	}
	if errorCode(err) == "BUSYGROUP" {
		return nil // it was there before
	}
	return storeError(err)
}

// storedFormat counts the ways in which contents were written. A server reads its own format only.
const storedFormat = 6

// ErrFormat is returned if the store is, or is being, written by another version, in a way that does
// not go together with this one's.
var ErrFormat = errors.New("another version of Ringback uses the store")

// checkFormat notes in the store how it is written, and returns ErrFormat if it is written in
// another way.
func (s *Store) checkFormat(ctx context.Context) error {
	key := Partition(0).key("format")
	if err := s.rdb.SetNX(ctx, key, storedFormat, 0).Err(); err != nil {
		return storeError(err)
	}
	known, err := s.rdb.Get(ctx, key).Int()
	switch {
	case err != nil:
		return storeError(err)
	case known > storedFormat:
		return newerFormat(known)
	case known < storedFormat:
		return fmt.Errorf("%w: an older one has written it, in format %d, and this one reads format %d only; let the older version end its jobs, then use an empty store (another REDIS_URL, or DATA_DIR)", ErrFormat, known, storedFormat)
	}
	return nil
}

func newerFormat(known int) error {
	return fmt.Errorf("%w: a newer one has written it, in format %d, and this one reads format %d only; start the newer version here, or use another REDIS_URL", ErrFormat, known, storedFormat)
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
		return job.Job{}, job.NoJob(id)
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

// keep writes something of a job's beside its record, for so many seconds, or with 0 as
// long as the record is kept; nothing where the record is gone. See keep.lua.
func (s *Store) keep(ctx context.Context, id job.ID, command, key string, seconds int64, args ...any) error {
	_, err := s.runJob(ctx, s.scripts.keep, id, append([]any{command, key, seconds}, args...)...)
	return err
}

// Signature returns what a callback of a live job must carry; the empty
// Signature when the job's secret has run out.
func (s *Store) Signature(ctx context.Context, id job.ID) (job.Signature, error) {
	p, err := locate(id)
	if err != nil {
		return "", err
	}
	read := s.rdb.HMGet(ctx, p.key("secret", string(id)), "secret", "until")
	if read.Err() != nil {
		return "", storeError(read.Err())
	}
	secret := liveSecret(read, s.clock.now())
	if secret == "" {
		return "", nil
	}
	return secret.Sign(id), nil
}
