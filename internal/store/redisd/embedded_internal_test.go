package redisd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
)

// answers is a hook that answers each ping of a Redis that starts.
type answers func(ping int64) error

// redisError is an error that Redis answers.
type redisError string

func (e redisError) Error() string { return string(e) }

func (redisError) RedisError() {}

func (answers) DialHook(next redis.DialHook) redis.DialHook { return next }

func (a answers) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	var pings atomic.Int64
	return func(_ context.Context, cmd redis.Cmder) error {
		err := a(pings.Add(1))
		cmd.SetErr(err)
		return err
	}
}

func (answers) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A large embedded store may load for longer than a Redis may take to answer at all.
func TestTheWaitForAnEmbeddedRedis(t *testing.T) {
	t.Parallel()
	const loading = redisError("LOADING Redis is loading the dataset in memory")
	silent := errors.New("i/o timeout")
	for name, row := range map[string]struct {
		answer func(ping int64) error
		fails  string
	}{
		"it answers at once":                 {func(int64) error { return nil }, ""},
		"it loads for long":                  {func(n int64) error { return map[bool]error{true: loading}[n < 40] }, ""},
		"it answers nothing":                 {func(int64) error { return silent }, "did not answer within 300ms"},
		"it loads, and then answers nothing": {func(n int64) error { return map[bool]error{true: loading, false: silent}[n < 10] }, "did not answer within 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := redis.NewClient(&redis.Options{})
			t.Cleanup(func() { _ = client.Close() })
			client.AddHook(answers(row.answer))
			socket := filepath.Join(t.TempDir(), "s")
			must.OK(t, os.WriteFile(socket, nil, 0o600))
			w := serverWait{patience: 300 * time.Millisecond, socket: socket, log: slog.New(slog.DiscardHandler)}
			err := w.until(t.Context(), client, nil)
			if row.fails == "" {
				must.OK(t, err)
				return
			}
			must.Contain(t, err.Error(), row.fails)
		})
	}
}

// A store starts wherever its directory is, and wherever temporary files are.
func TestASocketHasAShortPath(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("d", maxSocketPath))
	must.OK(t, os.Mkdir(long, 0o700))
	for name, c := range map[string]struct{ dir, temporary, in string }{
		"in its directory":                                    {"/srv/data/redis", "/tmp", "/srv/data/redis/"},
		"in a temporary one, if that is too long":             {long, "/tmp", "/tmp/ringback"},
		"in /tmp, if the one for temporary files is too long": {long, long, "/tmp/ringback"},
	} {
		t.Setenv("TMPDIR", c.temporary)
		path, cleanup, err := socketPath(c.dir)
		must.OK(t, err, name)
		if !strings.HasPrefix(path, c.in) || len(path) >= maxSocketPath {
			t.Errorf("%s: it is at %s", name, path)
		}
		cleanup()
	}
	must.Equal(t, 0, len(must.Get(os.ReadDir(long))(t)), "what is left")
}
