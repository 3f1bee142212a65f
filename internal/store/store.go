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
	"ringback/internal/text/gz"
)

// Options configures a store.
type Options struct {
	// Retention is the time for which finished jobs and events are kept.
	Retention time.Duration
	// NodeTimeout is how long a node may be silent before its turns are restarted elsewhere.
	NodeTimeout time.Duration
	// Wait configures the wait for replicas before a commit is confirmed to the caller.
	Wait Wait
}

// Store holds all state of Ringback. It is safe for concurrent use.
type Store struct {
	groups

	// rdb is a redis.UniversalClient. Its static type is narrower, because the compiler copies all code
	// that a UniversalClient reaches, 9 MB, into each package that uses a Store. The same applies to the
	// signatures of methods.
	rdb redis.Cmdable
	// crowd runs the scripts for progress reports.
	crowd   *crowd
	opts    Options
	scripts scripts
	// scriptKeys are the keys of scripts, by partition.
	scriptKeys [Partitions][]string
	// clock tracks the store's time.
	clock clock
	// past tracks the events that this node has received.
	past past
	// chats caches the chats of jobs, which never change, so that most states are read in one
	// round.
	chats *lru.Cache[job.ID, chatOf]
	// written is the format in which this server writes, see join.
	written atomic.Int64
	// errors counts the calls that failed because the store was unavailable.
	errors atomic.Int64
	log    *slog.Logger
}

// New returns a store on a Redis client.
func New(rdb redis.UniversalClient, opts Options, log *slog.Logger) *Store {
	chats, err := lru.New[job.ID, chatOf](knownChats)
	if err != nil {
		panic("store: " + err.Error()) // the size is positive
	}
	s := &Store{rdb: rdb, opts: opts, scripts: loadScripts(), log: log, chats: chats}
	s.groups = groupsOf(s)
	for p := range Partition(Partitions) {
		s.scriptKeys[p] = []string{p.prefix(), s.clockOf(p).key("clock")}
	}
	rdb.AddHook(errorHook{&s.errors})
	watch(rdb, log)
	if s.crowd, err = newCrowd(rdb, s.scripts.progress, &s.scriptKeys); err != nil {
		panic("store: " + err.Error()) // every client that Connect opens supports it
	}
	return s
}

// knownChats is the number of chats that are cached.
const knownChats = 10000

// chatOf identifies a job's chat.
type chatOf struct{ user, session string }

// LogClient sends the Redis client's messages to log, at debug level: each failed call reports its
// own failure. It applies to the whole process.
func LogClient(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

// Printf implements the client's logging interface.
func (l clientLog) Printf(_ context.Context, format string, args ...any) {
	l.log.Debug(fmt.Sprintf(format, args...))
}

// Connect opens a client for REDIS_URL: redis:// or rediss://, several hosts separated by commas
// for Cluster, ?master_name= for Sentinel.
func Connect(rawURL string) (redis.UniversalClient, error) {
	// The libraries' errors quote the URL, and with it the password if that splits the URL.
	unusable := errors.New("REDIS_URL cannot be used: expected redis:// or rediss://, user:password@host:port and, after another /, the number of a database. " +
		"In a password, write %2F for /, %40 for @, %3F for ?, %23 for # and %25 for %")
	u, err := url.Parse(rawURL)
	if err != nil || u.Fragment != "" { // a password with # would be cut, and its first half be the port
		return nil, unusable
	}
	hosts := strings.Split(u.Host, ",")
	query := u.Query()
	master := query.Get("master_name")
	query.Del("master_name")
	u.Host, u.RawQuery = hosts[0], query.Encode()
	one, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, unusable
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

// NewClient opens a client for one server without TLS.
func NewClient(address, password string) redis.UniversalClient {
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Dialer: dialer(&redis.Options{DialTimeout: dialTimeout}), Addrs: []string{address}, Password: password,
		DisableIdentity: true, PoolSize: 64, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
}

// dialTimeout is the time limit for opening a connection.
const dialTimeout = 2 * time.Second

// readTimeout is the time limit for a reply from Redis.
const readTimeout = 3 * time.Second

// nameConnection sets the name that CLIENT LIST shows for a connection. A refusal is ignored, so
// that a user need not have the right. If no reply came, the connection is unusable: the reply may
// arrive later and would be taken for the reply to the next command.
func nameConnection(ctx context.Context, connection *redis.Conn) error {
	err := connection.ClientSetName(ctx, "ringback").Err()
	if _, refused := errors.AsType[redis.Error](err); refused {
		return nil
	}
	return err
}

// Prepare checks that Redis answers and creates the keys that other operations need.
func (s *Store) Prepare(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	if err := s.join(ctx, "", "", ""); err != nil {
		return err
	}
	pipe := s.rdb.Pipeline()
	for p := range Partition(Partitions) {
		pipe.SetNX(ctx, p.key("latest"), 0, 0)
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			pipe.XGroupCreateMkStream(ctx, p.key("queue", string(priority)), "workers", "0")
		}
	}
	created, _ := pipe.Exec(ctx) // each has its own error
	for _, one := range created {
		if err := one.Err(); err != nil && errorCode(err) != "BUSYGROUP" { // that exists already
			return err
		}
	}
	return nil
}

// Ping returns an error if Redis does not answer.
func (s *Store) Ping(ctx context.Context) error { return s.rdb.Ping(ctx).Err() }

// Close closes the connections.
func (s *Store) Close() error { return s.rdb.(redis.UniversalClient).Close() }

// Get returns the record of a job, or a NotFound error.
func (s *Store) Get(ctx context.Context, id job.ID) (job.Job, error) {
	if _, err := locate(id); err != nil {
		return job.Job{}, err
	}
	found, err := s.fetch(ctx, []string{string(id)}, false)
	switch {
	case err != nil:
		return job.Job{}, err
	case len(found) == 0:
		return job.Job{}, job.NoJob(id)
	}
	return found[0], nil
}

// maxDefinition is the maximum size of a kind's definition: far more than its files can have.
const maxDefinition = 1 << 30

// KindDefinition returns the definition that lifecycle.KeepKind stored for a version; nil if there
// is none.
func (s *Store) KindDefinition(ctx context.Context, id job.ID, version string) ([]byte, error) {
	packed, err := s.rdb.Get(ctx, PartitionOf(id).key("kind", version)).Bytes()
	if err != nil {
		return nil, ignoreNil(err)
	}
	return gz.Unpack(packed, maxDefinition)
}

// field returns one field of a hash of a job: its record ("job"), "change" or "secret". found is
// false if the field does not exist or an error occurred.
func (s *Store) field(ctx context.Context, hash string, id job.ID, name string) (text string, found bool, err error) {
	p, err := locate(id)
	if err != nil {
		return "", false, err
	}
	text, err = s.rdb.HGet(ctx, p.key(hash, string(id)), name).Result()
	return text, err == nil, ignoreNil(err)
}

// kept is how long data is kept that is not deleted with its job's record. The time counts from now, or from
// when nothing waits any more in a chat, which is named by its sessionKey.
type kept struct {
	time time.Duration
	chat string
}

// attach writes data that belongs to a job. It writes nothing if the record is gone. See attach.lua.
func (s *Store) attach(ctx context.Context, id job.ID, k kept, command, key string, args ...any) error {
	_, err := s.runJob(ctx, s.scripts.attach, id, append([]any{command, key, toMillis(k.time), k.chat}, args...)...)
	return err
}

// Signature returns the signature that a callback of a live job must carry; empty if the job's
// secret has expired.
func (j Jobs) Signature(ctx context.Context, id job.ID) (job.Signature, error) {
	header, _, ok, err := j.s.Calls.Header(ctx, id)
	switch {
	case err == nil && !ok:
		return "", job.NoJob(id)
	case err != nil || header.secret == "":
		return "", err
	}
	return header.secret.Sign(id), nil
}
